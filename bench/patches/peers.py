"""The programs that ktrial is compared with. Each gives the tree it made, or None where it refused."""

import os
import shutil
import subprocess
import tempfile
import time

NOBODY = {"GIT_AUTHOR_NAME": "b", "GIT_AUTHOR_EMAIL": "b@b", "GIT_COMMITTER_NAME": "b",
          "GIT_COMMITTER_EMAIL": "b@b", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}


class GitAm:
    """`git am -3` with an index of the whole tree and an empty work tree: git fetches the files it
    touches from the index, so what is timed is its own work and no checkout."""

    def __init__(self, trees, work):
        self.root = os.path.join(work, "am")
        shutil.rmtree(self.root, ignore_errors=True)
        os.makedirs(self.root)
        # What it makes is looked at in the same place.
        self.env = {**os.environ, **NOBODY, "GIT_OBJECT_DIRECTORY": os.path.join(trees.dir, "objects")}
        self.git("init", "-q")
        self.git("config", "gc.auto", "0")

    def git(self, *words, **more):
        return subprocess.run(["git", "-C", self.root, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=self.env, **more)

    def start(self, base):
        self.git("am", "--abort")
        for name in os.listdir(self.root):
            if name != ".git":
                path = os.path.join(self.root, name)
                shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        self.git("update-ref", "--no-deref", "HEAD", base, check=True)
        self.git("read-tree", base, check=True)

    def __call__(self, base, mail, *options):
        """(tree or None, seconds)."""
        self.start(base)
        start = time.monotonic()
        done = self.git("am", "-q", "-3", *options, mail)
        seconds = time.monotonic() - start
        if done.returncode != 0:
            return None, seconds
        return self.git("rev-parse", "HEAD^{tree}").stdout.decode().strip(), seconds


def cherry_pick(trees, ancestor, ours, theirs):
    """The tree that `git cherry-pick` would make, by the same merge without a work tree; None where
    it conflicts."""
    merged = trees.git("merge-tree", "--write-tree", "--no-messages", "--merge-base", ancestor, ours, theirs,
                       check=False)
    return merged.stdout.decode().split("\n")[0] if merged.returncode == 0 else None


def gnu_patch(trees, base, paths, mail, *options):
    """GNU patch on a folder that holds just the files named: {path: bytes or None}, or None."""
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            content = trees.blob(base, path)
            target = os.path.join(folder, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if content is not None:
                with open(target, "wb") as file:
                    file.write(content)
        done = subprocess.run(["patch", "-s", "-f", "-E", "--no-backup-if-mismatch", "-i", mail, *options], cwd=folder,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done.returncode != 0:
            return None
        made = {}
        for path in paths:
            target = os.path.join(folder, path)
            made[path] = open(target, "rb").read() if os.path.isfile(target) else None
        return made
