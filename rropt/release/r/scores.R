# Scores: for each record k numbers whose expectations are the indicators of its true category.

rr_scores <- function(release, column) {
  one <- column_of(release, column)
  scores <- scores_of(release, one)
  if (length(one$columns) == 1 || setequal(column, one$released)) return(scores)
  # One column of a joint mechanism: sums of the scores of its combinations.
  at <- match(column, one$columns)
  part <- vapply(colnames(scores), function(x) split_label(x)[at], "")
  sums <- rowsum(t(scores), part, reorder = FALSE)
  t(sums)
}

column_of <- function(release, column) {
  for (one in release$columns) {
    whole <- setequal(column, one$released) && length(column) == length(one$released)
    if (whole || (length(column) == 1 && length(one$columns) > 1 && column %in% one$columns)) return(one)
  }
  stop("'", paste(column, collapse = ", "), "' is not a randomised column of this release")
}

scores_of <- function(release, one) {
  data <- release$data
  categories <- unique(unlist(lapply(one$strata, rownames)))
  found <- matrix(0, nrow(data), length(categories), dimnames = list(NULL, categories))
  answer <- joined(lapply(one$released, function(name) label(data[[name]])))
  drawn <- protected(data, one$where)
  kept <- match(answer, categories)
  inside <- which(!drawn & !is.na(kept))
  found[cbind(inside, kept[inside])] <- 1
  stratum <- if (length(one$by)) joined(lapply(one$by, function(name) stratum_values(data, one, name))) else rep("", nrow(data))
  for (at in seq_along(one$strata)) {
    Q <- one$strata[[at]]
    own <- which(if (length(one$by)) drawn & stratum == names(one$strata)[at] else drawn)
    y <- match(answer[own], colnames(Q))
    if (anyNA(y)) stop("records have answers that are not in the matrix of '", paste(one$released, collapse = ", "), "'")
    found[own, rownames(Q)] <- t(estimator(Q))[y, , drop = FALSE]
  }
  if (length(one$by) && !all(stratum[drawn] %in% names(one$strata))) stop("records are in strata that the manifest does not name")
  found
}

# The k x m linear unbiased estimator of least variance at equal frequencies (the inverse where m = k).
estimator <- function(Q) {
  w <- colMeans(Q)
  D <- ifelse(w > 0, 1 / w, 0)
  M <- Q %*% (D * t(Q))
  if (rcond(M) < 1e-14) stop("this design does not identify the frequencies")
  solve(M, t(D * t(Q)))
}

stratum_values <- function(data, one, name) {
  x <- label(data[[name]])
  known <- vapply(names(one$strata), function(text) {
    if (length(one$by) == 1) text else split_label(text)[match(name, one$by)]
  }, "")
  if (!is.null(one$null[[name]])) x[is.na(x) | x == ""] <- one$null[[name]]
  if (!is.null(one$other[[name]])) x[!x %in% known] <- one$other[[name]]
  x
}

# Which records the conditions, such as "age >= 15", say were randomised. Orders are those of numbers and of dates.
protected <- function(data, where) {
  found <- rep(TRUE, nrow(data))
  for (text in where) {
    parts <- regmatches(text, regexec("^(.*?)\\s*(>=|<=|!=|=|>|<)\\s*(.+)$", text, perl = TRUE))[[1]]
    x <- label(data[[parts[2]]])
    number <- suppressWarnings(as.numeric(parts[4]))
    ordered <- !parts[3] %in% c("=", "!=")
    if (!is.na(number) && !anyNA(suppressWarnings(as.numeric(x)))) {
      x <- as.numeric(x)
      value <- number
    } else if (ordered) {
      x <- as.POSIXct(x, tz = "UTC", optional = TRUE)
      value <- as.POSIXct(parts[4], tz = "UTC")
    } else {
      value <- parts[4]
    }
    compare <- get(if (parts[3] == "=") "==" else parts[3], baseenv())
    found <- found & compare(x, value)
  }
  if (anyNA(found)) stop("some records have no value that the conditions can be compared with")
  found
}
