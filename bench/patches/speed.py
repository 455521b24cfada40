"""Time: the same mails on the same trees, ktrial and `git am -3` in turn, and on a tree that holds
nothing but the files touched."""

import statistics


def table(bench):
    commits = [commit for _, commit in bench.sample]
    mails = [bench.mail(commit) for commit in commits]
    whole = [bench.trees.commit(bench.trees.tree(c + "^1")) for c in commits]
    small = [bench.trees.commit(bench.trees.only(base, bench.paths(c))) for base, c in zip(whole, commits)]
    lines = ["ms a patch, median of the sample (and whole sum in s)"]
    figures = {}
    for size, bases in (("whole tree", whole), ("touched files only", small)):
        ours = [outcome["us"] / 1e3 for outcome in bench.ktrial([(b, m, False) for b, m in zip(bases, mails)])]
        theirs = [bench.am(base, mail)[1] * 1e3 for base, mail in zip(bases, mails)]
        for program, times in (("ktrial", ours), ("git am -3", theirs)):
            figures[program, size] = sum(times)
            lines.append(f"  {size:<18} {program:<10} {statistics.median(times):8.2f}  ({sum(times) / 1e3:.1f})")
    ratio = figures["git am -3", "whole tree"] / figures["ktrial", "whole tree"]
    growth = figures["ktrial", "whole tree"] / figures["ktrial", "touched files only"]
    lines.append(f"  git am -3 takes {ratio:.1f} times as long as ktrial")
    lines.append(f"  ktrial takes {growth:.2f} times as long on the whole tree as on the touched files alone")
    return "\n".join(lines)

