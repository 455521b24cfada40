# Sourced by ./quickstart and ./test: what a Debian or Ubuntu machine needs, installed by name.
# Where it may not install, it prints the line to type and ends with 6 (this machine is at fault).

# A program and the package it is in.
NEEDS="gcc:gcc make:make ld:binutils flex:flex bison:bison bc:bc perl:perl git:git xz:xz-utils
musl-gcc:musl-tools pkg-config:pkg-config qemu-system-x86_64:qemu-system-x86"

export DEBIAN_FRONTEND=noninteractive

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif sudo -n true 2>/dev/null; then
		sudo "$@"
	else
		return 1
	fi
}

missing_packages() {
	for need in $NEEDS; do
		command -v "${need%%:*}" >/dev/null || echo "${need#*:}"
	done
	[ -e /usr/include/libelf.h ] || [ -e /usr/include/gelf.h ] || echo libelf-dev
	[ -e /usr/include/hwloc.h ] || echo libhwloc-dev
	[ -e /usr/include/libudev.h ] || echo libudev-dev
}

# Debian 12 has newer versions of some packages in a suite of their own.
install_from_backports() {
	grep -q '^VERSION_CODENAME=bookworm$' /etc/os-release || return 1
	as_root sh -c 'cat > /etc/apt/sources.list.d/ktrial-backports.sources' <<-'EOF'
	Types: deb
	URIs: http://deb.debian.org/debian
	Suites: bookworm-backports
	Components: main
	Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
	EOF
	as_root apt-get update -qq
	as_root apt-get install -y -qq --no-install-recommends -t bookworm-backports "$@"
}

install_packages() {
	[ $# -gt 0 ] || return 0
	line="apt-get install --no-install-recommends $*"
	if ! command -v apt-get >/dev/null || ! as_root true; then
		echo "this machine is at fault: missing $*" >&2
		echo "  next: $line" >&2
		exit 6
	fi
	echo "installing: $*"
	as_root apt-get update -qq || echo "apt-get update failed; trying with the lists that are there" >&2
	# qemu-utils from backports locks the plain qemu-system-x86 out: take both from there.
	as_root apt-get install -y -qq --no-install-recommends "$@" >/dev/null ||
		install_from_backports "$@" >/dev/null || {
		echo "this machine is at fault: apt could not install $*" >&2
		echo "  next: $line" >&2
		exit 6
	}
}

need_packages() {
	# shellcheck disable=SC2046
	install_packages $(missing_packages)
	if ! command -v cargo >/dev/null; then
		echo "this machine is at fault: no Rust toolchain" >&2
		echo "  next: install one (https://rustup.rs), version 1.95 or newer" >&2
		exit 6
	fi
}

# Guests with several vCPUs in virtual time want QEMU 8.1; without it they are refused, not tested.
want_newer_qemu() {
	qemu-system-x86_64 --version | grep -qE 'version ([0-7]\.|8\.0)' || return 0
	echo "installing a newer QEMU, for guests with several vCPUs"
	install_from_backports qemu-system-x86 >/dev/null || echo "none is to be had: they are not tested" >&2
}

# The distribution's own kernel source: 6.1 where there is one, for the catalogue's series.
need_kernel_source() {
	if ! ls /usr/src/linux-source-*.tar.* >/dev/null 2>&1; then
		package=linux-source-6.1
		apt-cache show "$package" >/dev/null 2>&1 || as_root apt-get update -qq || true
		apt-cache show "$package" >/dev/null 2>&1 || package=linux-source
		install_packages "$package"
	fi
	KERNEL_SOURCE=$(ls /usr/src/linux-source-6.1.tar.* 2>/dev/null ||
		ls -v /usr/src/linux-source-*.tar.* | tail -n 1)
}
