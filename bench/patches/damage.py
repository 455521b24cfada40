"""What mailers, archives and other diffs do to a patch. Each takes the mail that git format-patch
wrote, as bytes, and gives the damaged one."""

import quopri
import re


#: Stands for a carriage return; no mail has it.
RETURN = b"carriagereturn"


def as_is(mail):
    return mail


def tabs_to_eight_blanks(mail):
    return mail.replace(b"\t", b" " * 8)


def runs_to_one_blank(mail):
    return b"\n".join(re.sub(rb"[ \t]+", b" ", line) for line in mail.split(b"\n"))


def crlf(mail):
    return mail.replace(b"\n", b"\r\n")


def without_git_headers(mail):
    """Plain diff: what `diff -u` would have printed, without git's own lines."""
    own = (b"diff --git ", b"index ", b"new file mode ", b"deleted file mode ", b"old mode ", b"new mode ",
           b"similarity index ", b"dissimilarity index ")
    head, body = mail.split(b"\ndiff --git ", 1)
    body = b"diff --git " + body
    kept, in_hunk = [], [0, 0]
    for line in body.split(b"\n"):
        counts = re.match(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@", line)
        if in_hunk[0] > 0 or in_hunk[1] > 0:
            in_hunk[0] -= line[:1] in (b" ", b"-")
            in_hunk[1] -= line[:1] in (b" ", b"+")
        elif counts:
            in_hunk = [int(n) if n is not None else 1 for n in counts.groups()]
        elif line.startswith(own):
            continue
        kept.append(line)
    return head + b"\n" + b"\n".join(kept)


def quoted_printable(mail):
    head, body = mail.split(b"\n\n", 1)
    fields = [line for line in head.split(b"\n") if not re.match(rb"(?i)(mime|content)-", line)]
    fields += [b"MIME-Version: 1.0", b"Content-Type: text/plain; charset=utf-8",
               b"Content-Transfer-Encoding: quoted-printable"]
    # quopri drops carriage returns, and so gets none to see.
    lines = [quopri.encodestring(line.replace(b"\r", RETURN)).replace(RETURN, b"=0D") for line in body.split(b"\n")]
    return b"\n".join(fields) + b"\n\n" + b"\n".join(lines)


def flowed(mail):
    """RFC 3676, section 4.2: trailing blanks go, long lines are broken after a blank at 78 columns,
    and lines that begin with a blank, `>` or `From ` are stuffed with one."""
    head, body = mail.split(b"\n\n", 1)
    fields = [line for line in head.split(b"\n") if not re.match(rb"(?i)(mime|content)-", line)]
    fields += [b"MIME-Version: 1.0", b"Content-Type: text/plain; charset=utf-8; format=flowed",
               b"Content-Transfer-Encoding: 8bit"]
    out = []
    for line in body.split(b"\n"):
        if line != b"-- ":
            line = line.rstrip(b" ")
        while len(line) > 78:
            # A break must not leave a line of blanks alone, which would be a paragraph's end.
            at = line.rfind(b" ", 1, 77)
            if at < 1 or not line[:at].strip():
                break
            out.append(stuffed(line[:at + 1]))
            line = line[at + 1:]
        out.append(line if line == b"-- " else stuffed(line))
    return b"\n".join(fields) + b"\n\n" + b"\n".join(out)


def stuffed(line):
    return b" " + line if line.startswith((b" ", b">", b"From ")) else line
