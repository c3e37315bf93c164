"""Recording, gradients, and running what was recorded."""
