"""Are labels worth more on the nodes that ``grandplus suggest`` names than on random ones?"""
