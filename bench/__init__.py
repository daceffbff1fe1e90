"""What Clew costs, each figure beside the floor that it is measured against, in the same run."""
