### The documents' formulas beside the right ones, for the derivation that they belong to.

formula-right-under-conditions = formula right under conditions
undefined = undefined
documented =
    { $same ->
        [yes] Document, and this book
       *[no] Document
    }{ $reconstructed ->
        [yes] { " " }(only the result is printed)
       *[no] { "" }
    }: { $formula }
right = Right: { $formula }
letters = Letters: { $letters }.
letter = { $letter }: { $meaning }
heading = **{ $title }** ({ $document }, { $count ->
        [one] section
       *[other] sections
    } { $sections }): *{ $verdict }*
quoted = “{ $name }”
result = { $where }: { $numbers }.
section = Section { $section }
section-by-name = Section “{ $name }”
printed = printed { $number }
recomputed =
    recomputed { $number }{ $agrees ->
        [yes] { "" }
       *[no] { " " }(differs)
    }
corrected = corrected **{ $number }**
