smaller-parts = smaller parts, together
