"""Change points of apache-otava with its defaults, for bench/changepoints.

Reads a JSON array of series from the file named first, writes one array of indices a series and the
seconds spent in the analysis to the file named second.
"""

import json
import sys
import time

from otava.analysis import compute_change_points

with open(sys.argv[1]) as file:
    series = json.load(file)
compute_change_points(list(series[0]))  # what is loaded on first use is not counted
found = []
seconds = 0.0
for values in series:
    start = time.perf_counter()
    # As AnalysisOptions of otava/series.py has them.
    changes, _ = compute_change_points(
        values, window_len=50, max_pvalue=0.001, min_magnitude=0.0
    )
    seconds += time.perf_counter() - start
    found.append([int(change.index) for change in changes])
with open(sys.argv[2], "w") as file:
    json.dump({"found": found, "seconds": seconds}, file)
