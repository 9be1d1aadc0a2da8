"""What stands below the tables."""

_TOOK = """\
"Seconds" are those of a core in the median trial, of training and of predicting all nodes; rows of Π were pushed
before. "MiB" is the most memory of a process that runs trials one after the other.
"""
CITATION = f"""\
± is the standard deviation over trials. "Settings" says whether a system's configuration was published for this
graph, or searched for on validation nodes. Differences are of means, in points, with 95 % intervals: the first one
tells what other trials would give on the same test nodes, the second one what they would on other test nodes too.
{_TOOK}"""
UNSEEN = f"""\
± is the standard deviation over trials; where there is none, there was one trial. All systems have the same ten
random splits. "Searched" settings were chosen on the validation nodes of the first split, for each system among
ten. What takes too long, or more memory than there is, has its reason below the table of its graph. Differences are
of means over trials of the same splits, to GRAND+ of the same kind, in points, with 95 % intervals that are
corrected for what splits share: the first one tells what other trials would give on such nodes, the second one what
they would on other nodes too.
{_TOOK}"""
LARGE = """\
One trial each, in a process of its own. "Preparation" is pushing rows of Π, propagating features or estimating a
sampler's weights, and at the smallest scale compiling kernels; "inference" is predicting all nodes. The twins have
the sizes of the paper's graphs and not their labels, so only seconds compare with the paper's, which are of a GPU
and are the sum of all three parts. "GiB" is the most memory of the process, files that it maps among it.
"""
