"""Studies on the simulator and the learners, their figures, and the command line."""
