"""What an outcome is worth, and the rows that count it."""

from collections import Counter


def has_empty_file(trees, commit):
    """A plain diff can't say that an empty file is made or removed."""
    for status, _, _, path in trees.changes(commit):
        side = commit + "^1" if status == "D" else commit
        if trees.blob(side, path) == b"":
            return True
        if status in "MT" and trees.blob(commit + "^1", path) == trees.blob(commit, path):
            return True
    return False


def against(trees, wanted, tree, paths, contents_only=False, mends=None):
    """`same`: the commit's own tree. `told`: the same up to blanks, and each line that differs is
    named by a mend. `blanks`: the same up to blanks, in silence. `wrong`, `refused`."""
    if tree is None:
        return "refused"
    if tree == wanted:
        return "same"
    differ = trees.paths_between(wanted, tree)
    if not set(differ) <= set(paths):
        return "wrong"
    files = {path: trees.blob(tree, path) for path in differ}
    verdict = files_against(trees, wanted, files, differ)
    if verdict == "same":
        return "same" if contents_only else "wrong"
    if verdict == "blanks" and mends is not None and all(told(trees, wanted, path, files[path], mends) for path in differ):
        return "told"
    return verdict


def files_against(trees, wanted, files, paths):
    if files is None:
        return "refused"
    verdict = "same"
    for path in paths:
        want, got = trees.blob(wanted, path), files[path]
        if want == got:
            continue
        if want is None or got is None or loose(want) != loose(got):
            return "wrong"
        verdict = "blanks"
    return verdict


def loose(content):
    return [b" ".join(line.split()) for line in content.rstrip().split(b"\n")]


def told(trees, wanted, path, got, mends):
    """Whether every line that is not as wanted is named."""
    named = {mend["line"] for mend in mends if mend["path"] == path and mend["now"] is not None}
    pairs = zip(trees.blob(wanted, path).split(b"\n"), got.split(b"\n"))
    return all(want == have or line in named for line, (want, have) in enumerate(pairs, 1))


def beside_git(here, picked, outcome):
    """An outcome beside that of `git cherry-pick`; `here` is the tree before."""
    tree = outcome.get("tree")
    if picked is None:
        return "both refuse" if tree is None else "applies alone"
    if picked == here:
        nothing = tree == here or outcome.get("already") or (tree is None and "already" not in outcome)
        return "nothing to do" if nothing else ("refuses" if tree is None else "other tree")
    if tree is None:
        return "refuses"
    return "agrees" if tree == picked else "other tree"


def files_beside_git(trees, here, picked, files, paths):
    """The same for files that GNU patch wrote."""
    if files is None:
        return beside_git(here, picked, {"tree": None})
    if picked is None:
        return "applies alone"
    same = all(trees.blob(picked, path) == files[path] for path in paths)
    return ("nothing to do" if picked == here else "agrees") if same else "other tree"


class Row:
    """Counts for one kind of damage."""

    VERDICTS = ["same", "told", "blanks", "wrong", "refused"]

    def __init__(self, name, of):
        self.name, self.of, self.counts = name, of, {}

    def count(self, program, verdict):
        self.counts.setdefault(program, Counter())[verdict] += 1

    def text(self):
        lines = [f"{self.name} ({self.of})"]
        for program, counts in self.counts.items():
            lines.append(f"  {program:<10} " + "  ".join(f"{v} {counts[v]:>4}" for v in self.VERDICTS))
        return "\n".join(lines)


class Moved(Row):
    """Counts beside `git cherry-pick`."""

    VERDICTS = ["agrees", "nothing to do", "other tree", "refuses", "applies alone", "both refuse"]

    def __init__(self, name):
        super().__init__(name, 0)

    def text(self):
        self.of = sum(self.counts["ktrial"].values())
        return super().text()
