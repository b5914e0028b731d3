# Estimates from scores. Standard errors are linearised: those of records drawn independently, with replacement if they
# have weights. They include the randomisation. If only some records were randomised, these are counted.

rr_frequencies <- function(release, column, weights = NULL) {
  release <- randomised_records(release, column)
  scores <- rr_scores(release, column)
  found <- weighted_means(scores, weights_of(release, weights))
  data.frame(category = colnames(scores), estimate = found$mean, standard_error = sqrt(diag(found$covariance)), row.names = NULL)
}

rr_table <- function(release, rows, columns, weights = NULL) {
  release <- randomised_records(release, c(rows, columns))
  a <- scores_or_indicators(release, rows)
  b <- scores_or_indicators(release, columns)
  one <- two_of_one(release, rows, columns)
  if (is.null(one)) {
    cells <- a[, rep(seq_len(ncol(a)), each = ncol(b)), drop = FALSE] * b[, rep(seq_len(ncol(b)), ncol(a)), drop = FALSE]
  } else {
    # Two columns of one joint mechanism: sums of the scores of their combinations.
    whole <- scores_of(release, one)
    parts <- lapply(colnames(whole), split_label)
    first <- vapply(parts, `[`, "", match(rows, one$columns))
    second <- vapply(parts, `[`, "", match(columns, one$columns))
    cells <- vapply(seq_len(ncol(a) * ncol(b)), function(cell) {
      own <- first == colnames(a)[(cell - 1) %/% ncol(b) + 1] & second == colnames(b)[(cell - 1) %% ncol(b) + 1]
      rowSums(whole[, own, drop = FALSE])
    }, numeric(nrow(whole)))
  }
  found <- weighted_means(cells, weights_of(release, weights))
  shape <- function(x) matrix(x, ncol(a), ncol(b), byrow = TRUE, dimnames = list(colnames(a), colnames(b)))
  list(estimate = shape(found$mean), standard_error = shape(sqrt(diag(found$covariance))), covariance = found$covariance)
}

rr_mean <- function(release, y, column, weights = NULL) {
  release <- randomised_records(release, column)
  scores <- scores_or_indicators(release, column)
  value <- as.numeric(release$data[[y]])
  if (anyNA(value)) stop("'", y, "' is not a number in all records")
  w <- weights_of(release, weights)
  size <- colSums(w * scores)
  mean <- colSums(w * scores * value) / size
  mean[size <= 0] <- NA
  n <- nrow(scores)
  error <- vapply(seq_along(mean), function(x) {
    u <- w * scores[, x] * (value - mean[x])
    sqrt(n / (n - 1) * sum((u - sum(u) / n)^2)) / size[x]
  }, 0)
  data.frame(category = colnames(scores), estimate = mean, standard_error = error, row.names = NULL)
}

rr_svydesign <- function(release, ids = ~1, columns = NULL, ...) {
  if (!requireNamespace("survey", quietly = TRUE)) stop("this needs the package survey")
  wanted <- if (is.null(columns)) lapply(release$columns, function(one) one$released) else as.list(columns)
  data <- release$data
  for (name in wanted) {
    scores <- rr_scores(release, name)
    colnames(scores) <- paste0(joined(as.list(name)), "=", colnames(scores))
    data <- cbind(data, as.data.frame(scores, check.names = FALSE))
  }
  survey::svydesign(ids = ids, data = data, ...)
}

randomised_records <- function(release, columns) {
  for (one in release$columns) {
    if (any(columns %in% c(one$columns, one$released))) {
      release$data <- release$data[protected(release$data, one$where), , drop = FALSE]
    }
  }
  release
}

weighted_means <- function(scores, w) {
  n <- nrow(scores)
  total <- sum(w)
  mean <- colSums(w * scores) / total
  u <- w * sweep(scores, 2, mean) / total
  list(mean = mean, covariance = n / (n - 1) * (crossprod(u) - tcrossprod(colSums(u)) / n))
}

weights_of <- function(release, weights) {
  if (is.null(weights)) return(rep(1, nrow(release$data)))
  w <- as.numeric(release$data[[weights]])
  if (anyNA(w) || any(w < 0)) stop("'", weights, "' is not a number of at least 0 in all records")
  w
}

scores_or_indicators <- function(release, column) {
  if (length(column) == 1 && column %in% release$unchanged) {
    x <- label(release$data[[column]])
    known <- sort(unique(x), method = "radix")
    found <- outer(x, known, "==") + 0
    colnames(found) <- known
    return(found)
  }
  rr_scores(release, column)
}

two_of_one <- function(release, rows, columns) {
  for (one in release$columns) {
    if (length(one$columns) > 1 && rows %in% one$columns && columns %in% one$columns) return(one)
  }
  NULL
}
