"""The fp8 prepacked-B scaled matrix product: its source, its harness, and the operator for users."""
