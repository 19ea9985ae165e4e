/* Stands in for the theme's 1.5 MB icon script: the theme's own icon font draws the same icons. */
