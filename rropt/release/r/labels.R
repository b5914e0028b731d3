# Texts of a released file: how it is read, and how values become labels.

text_table <- function(path, delimiter, unquote) {
  found <- read.csv(
    path, sep = delimiter, colClasses = "character", check.names = FALSE, na.strings = NULL, encoding = "UTF-8"
  )
  if (!unquote) return(found)
  setNames(as.data.frame(lapply(found, unquoted)), unquoted(names(found)))
}

# rropt puts an apostrophe in front of texts that a spreadsheet would take for formulas.
unquoted <- function(x) {
  number <- "^'*[+-]?([0-9][0-9.,]*|[.][0-9]+)([eE][+-]?[0-9]+)?%?$"
  mark <- grepl("^'+[=+@\t\r-].", x) & !grepl(number, x)
  ifelse(mark, substring(x, 2), x)
}

label <- function(x) {
  if (is.logical(x)) ifelse(x, "True", "False")
  else if (is.numeric(x)) format(x, scientific = FALSE, trim = TRUE, digits = 15)
  else as.character(x)
}

joined <- function(parts) {
  if (length(parts) == 1) return(parts[[1]])
  do.call(paste, c(lapply(parts, function(x) gsub("([\\\\,])", "\\\\\\1", x)), sep = ", "))
}

split_label <- function(x) {
  parts <- strsplit(gsub("\\\\(.)", "\001\\1", x), "(?<!\001), ", perl = TRUE)[[1]]
  gsub("\001", "", parts, fixed = TRUE)
}
