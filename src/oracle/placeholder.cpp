// Takes the place of the first source.
