"""What stands below the tables."""

_TOOK = """\
"Seconds" are those of a core in the median trial, of training and of predicting all nodes; rows of Π were pushed
before. "MiB" is the most memory of a process that runs trials one after the other.
"""
CITATION = f"""\
± is the standard deviation over trials. "Settings" says whether a system's configuration was published for this
graph or for others, or searched for on validation nodes. Differences are of means, in points, and below 0 where
GRAND+ is more accurate; of their 95 % intervals the first one tells what other trials would give on the same test
nodes (Welch's, as trials of two systems have only the split in common), the second one what they would on other test
nodes too. Machines: see `experiments/README.md`.
{_TOOK}"""
UNSEEN = f"""\
± is the standard deviation over trials; where there is none, there was one trial. All systems have the same ten
random splits, and GRAND+ has the matrix `avg`. Its defaults follow the graph, by rules that were chosen on half of 32
graphs, Amazon Computers among them; those of the others are the same on each graph. "Searched" settings were chosen on
the validation nodes of the first split, for each system among ten. What was left out, as it takes too long or more
memory than there is, stands below the table of its graph. Differences are of means over the splits that both systems
have, to GRAND+ by defaults or to GRAND+ after its search, in points, and below 0 where GRAND+ is more accurate. Their
95 % intervals are corrected for the nodes that splits have in common: the first one tells what other trials would give
on such nodes, the second one what they would on other nodes too.
{_TOOK}"""
LARGE = """\
One trial each, in a process of its own. "Preparation" is pushing rows of Π, propagating features or estimating a
sampler's weights, and at the smallest scale compiling kernels; "inference" is predicting all nodes. The twins have
the sizes of the paper's graphs and not their labels, so only seconds compare with the paper's, which are of a GPU
and are the sum of all three parts. "GiB" is the most memory of the process, with the files that it maps. Features
of a twin are noise around their class, far more than in real graphs. So accuracy here tells which systems average
noise away before they classify, and not which is better on the real graph.
"""
