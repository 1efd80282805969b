"""Z3 obligations over the model's own index arithmetic."""
