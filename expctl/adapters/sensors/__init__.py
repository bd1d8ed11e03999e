"""What the gate sees with: one module per way of seeing foreign work, and what several of them read."""
