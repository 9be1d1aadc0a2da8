"""Rules that say, in a line each, what speaks against a result and what to try.

No rule looks at the label of a test node: whoever follows its advice would choose settings by test nodes.
"""
