"""The tree that patches are tried on: its commits, and trees cut down to the folders asked for."""

import os
import random
import subprocess


class Trees:
    """A scratch repository that borrows the objects of `source` and holds what the bench makes."""

    def __init__(self, source, work, only):
        self.dir = os.path.join(work, "git")
        self.folders = only
        self.cut_trees = {}
        if not os.path.exists(os.path.join(self.dir, "HEAD")):
            subprocess.run(["git", "init", "-q", "--bare", self.dir], check=True)
        common = subprocess.run(["git", "-C", source, "rev-parse", "--path-format=absolute", "--git-common-dir"],
                                check=True, text=True, stdout=subprocess.PIPE).stdout.strip()
        with open(os.path.join(self.dir, "objects/info/alternates"), "w") as file:
            file.write(os.path.join(common, "objects") + "\n")
        self.head = subprocess.run(["git", "-C", source, "rev-parse", "HEAD"], check=True, text=True,
                                   stdout=subprocess.PIPE).stdout.strip()

    def git(self, *words, check=True, **more):
        return subprocess.run(["git", "-C", self.dir, *words], check=check, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, **more)

    def text(self, *words):
        return self.git(*words).stdout.decode("utf-8", "surrogateescape").strip()

    def line(self):
        """The first parents of HEAD, oldest first."""
        return self.text("rev-list", "--first-parent", "--reverse", self.head).split()

    def changes(self, commit):
        """(status, old mode, new mode, path) of each file that a commit changes, renames taken apart."""
        raw = self.text("diff-tree", "-r", "--no-renames", commit + "^1", commit)
        rows = [line.split(None, 5) for line in raw.splitlines()]
        return [(row[4][0], row[0].strip(":"), row[1], row[5]) for row in rows if len(row) == 6]

    def is_text(self, commit):
        """Whether git shows every change of the commit as text."""
        stat = self.git("diff", "--numstat", commit + "^1", commit, check=False)
        lines = stat.stdout.splitlines()
        return stat.returncode == 0 and lines and not any(line.startswith(b"-") for line in lines)

    def tree(self, commit):
        """The tree of a commit, cut down to the top-level entries asked for."""
        if commit not in self.cut_trees:
            whole = self.text("rev-parse", commit + "^{tree}")
            self.cut_trees[commit] = self.cut(whole)
        return self.cut_trees[commit]

    def cut(self, tree):
        if not self.folders:
            return tree
        entries = self.git("ls-tree", "-z", tree).stdout.split(b"\0")
        kept = [e for e in entries if e and e.split(b"\t", 1)[1].decode() in self.folders]
        made = self.git("mktree", "-z", "--missing", input=b"".join(e + b"\0" for e in kept))
        return made.stdout.decode().strip()

    def only(self, commit, paths):
        """A tree of the files of a commit at these paths alone."""
        index = {**os.environ, "GIT_INDEX_FILE": os.path.join(self.dir, "bench-index")}
        self.git("read-tree", "--empty", env=index)
        entries = self.git("ls-tree", "-z", commit, "--", *paths).stdout
        self.git("update-index", "--add", "-z", "--index-info", input=entries, env=index)
        return self.git("write-tree", env=index).stdout.decode().strip()

    def commit(self, tree, parent=None):
        """A commit of a tree, with the same name and date each time."""
        who = {"GIT_AUTHOR_NAME": "b", "GIT_AUTHOR_EMAIL": "b@b", "GIT_AUTHOR_DATE": "1000000000 +0000",
               "GIT_COMMITTER_NAME": "b", "GIT_COMMITTER_EMAIL": "b@b",
               "GIT_COMMITTER_DATE": "1000000000 +0000"}
        parents = ["-p", parent] if parent else []
        made = self.git("commit-tree", tree, *parents, "-m", "b", env={**os.environ, **who})
        return made.stdout.decode().strip()

    def is_within(self, paths):
        return not self.folders or all(path.split("/", 1)[0] in self.folders for path in paths)

    def blob(self, tree, path):
        shown = self.git("cat-file", "blob", f"{tree}:{path}", check=False)
        return shown.stdout if shown.returncode == 0 else None

    def paths_between(self, one, other):
        out = self.git("diff-tree", "-r", "-z", "--no-renames", "--name-only", one, other).stdout
        return [path.decode("utf-8", "surrogateescape") for path in out.split(b"\0") if path]


def sample(trees, count, seed):
    """`count` commits at random, of those whose changes are all text, with their place on the line."""
    line = trees.line()
    places = list(range(1, len(line)))
    random.Random(seed).shuffle(places)
    picked = []
    for place in places:
        commit = line[place]
        if len(trees.text("rev-list", "--parents", "-1", commit).split()) != 2:
            continue
        changes = trees.changes(commit)
        regular = all(mode in ("000000", "100644", "100755", "120000") for c in changes for mode in c[1:3])
        if changes and regular and trees.is_within([c[3] for c in changes]) and trees.is_text(commit):
            picked.append((place, commit))
            if len(picked) == count:
                break
    return line, picked
