# A released file with its manifest, and the matrices in it.

rr_release <- function(file, manifest = paste0(file, ".manifest.json"), data = NULL) {
  content <- jsonlite::fromJSON(manifest, simplifyVector = FALSE)
  if (!identical(content$format, "rropt-release")) stop(manifest, " is not the manifest of a release")
  if (is.null(content$matrices)) stop(manifest, " has no matrices: estimate with the mechanism files, in Python")
  matrices <- lapply(content$matrices, mechanism_matrix)
  if (is.null(data)) data <- released_table(file, content$output)
  if (nrow(data) != content$rows) {
    stop("the manifest is of a file with ", content$rows, " records, and there are ", nrow(data))
  }
  columns <- lapply(content$columns, function(one) {
    strata <- if (is.null(one$mechanisms)) list(matrices[[one$mechanism]]) else lapply(one$mechanisms, function(sha) matrices[[sha]])
    list(
      columns = unlist(one$columns), released = unlist(one$released_as), by = unlist(one$by),
      strata = strata, null = one$null, other = one$other, where = unlist(one$where)
    )
  })
  structure(
    list(data = data, columns = columns, unchanged = unlist(content$unprotected), epsilon = content$epsilon),
    class = "rr_release"
  )
}

print.rr_release <- function(x, ...) {
  cat("A release of", nrow(x$data), "records\n")
  for (one in x$columns) {
    cat("  randomised:", paste(one$released, collapse = ", "), "- do not tabulate", if (length(one$released) > 1) "them" else "it", "directly\n")
  }
  cat("  unchanged:", if (length(x$unchanged)) paste(x$unchanged, collapse = ", ") else "none", "\n")
  invisible(x)
}

rr_matrix <- function(release, column, stratum = NULL) {
  one <- column_of(release, column)
  if (length(one$by)) {
    if (is.null(stratum)) stop("name one of the strata: ", paste(names(one$strata), collapse = "; "))
    if (!stratum %in% names(one$strata)) stop("'", stratum, "' is not one of the strata: ", paste(names(one$strata), collapse = "; "))
    one$strata[[stratum]]
  } else {
    one$strata[[1]]
  }
}

# The integers of a mechanism, k rows and m columns, and the denominators of the rows, all as numbers. They are exact
# where they are at most 2^53.
integers_of <- function(document) {
  inputs <- unlist(document$inputs)
  groups <- if (is.null(document$groups)) seq_along(inputs) else unlist(document$groups) + 1
  k <- max(groups)
  below <- as.numeric(unlist(document$denominators))
  if (!is.null(document$off_diagonal)) {
    off <- rep_len(as.numeric(unlist(document$off_diagonal)), k)
    below <- rep_len(below, k)
    entries <- matrix(off, k, k)
    diag(entries) <- below - (k - 1) * off
    outputs <- if (is.null(document$outputs)) inputs else unlist(document$outputs)
  } else if (!is.null(document$columns)) {
    entries <- vapply(document$columns, function(one) column_integers(one, k), numeric(k))
    outputs <- unlist(document$outputs)
  } else {
    stop("this mechanism has no explicit matrix: estimate in Python")
  }
  list(entries = entries[groups, , drop = FALSE], below = rep_len(below, k)[groups], inputs = inputs, outputs = outputs)
}

column_integers <- function(one, k) {
  if (!is.null(one$dense)) return(as.numeric(unlist(one$dense)))
  digits <- strtoi(rev(strsplit(one$members, "")[[1]]), 16L)
  bits <- as.logical(vapply(digits, function(digit) bitwAnd(digit, c(1L, 2L, 4L, 8L)) > 0, logical(4)))
  ifelse(bits[seq_len(k)], as.numeric(one$high), as.numeric(one$low))
}

mechanism_matrix <- function(document) {
  made <- integers_of(document)
  matrix(made$entries / made$below, nrow(made$entries), dimnames = list(made$inputs, made$outputs))
}

# -- files ---------------------------------------------------------------------------------------------------

released_table <- function(file, output) {
  kind <- tolower(sub(".*[.]", "", file))
  if (is.null(output$delimiter)) {
    if (!requireNamespace("arrow", quietly = TRUE)) stop("reading .", kind, " files needs the package arrow, or data = a data frame")
    reader <- if (kind %in% c("parquet", "pq")) arrow::read_parquet else arrow::read_feather
    return(as.data.frame(reader(file)))
  }
  text_table(file, output$delimiter, !identical(output$formulas, "as they are"))
}
