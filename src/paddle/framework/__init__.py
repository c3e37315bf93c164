"""Seeds, saving and loading, and other things that concern the whole framework."""
