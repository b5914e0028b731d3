# Regression on true values: corrected estimating equations (Nakamura 1990). For each combination of categories of the
# randomised columns, every record has the product of their scores as a weight, so that the expectation of the equations,
# given the true values, is that of the equations on the true values.

rr_glm <- function(release, response, covariates, event = NULL, model = if (is.null(event)) "linear" else "logistic", weights = NULL) {
  if (!model %in% c("linear", "logistic")) stop("'", model, "' is not a model: use 'linear' or 'logistic'")
  if (model == "logistic" && is.null(event)) stop("a logistic regression needs an event: name a category of the response")
  w <- weights_of(release, weights)
  n <- length(w)
  known <- matrix(1, n, 1, dimnames = list(NULL, "intercept"))
  for (name in intersect(covariates, release$unchanged)) known <- cbind(known, covariate(release, name))
  drawn <- setdiff(c(response, covariates), release$unchanged)
  if (!length(drawn)) stop("no column of this regression was randomised: use glm")
  groups <- homes(release, drawn)
  cells <- expand.grid(lapply(groups, function(one) seq_along(one$values)))
  terms <- unlist(lapply(intersect(covariates, drawn), function(name) dummies(groups, name)))
  combinations <- lapply(seq_len(nrow(cells)), function(at) {
    chosen <- unlist(cells[at, ])
    values <- unlist(Map(function(one, i) one$values[[i]], groups, chosen))
    list(
      scores = Reduce(`*`, Map(function(one, i) one$scores[, i], groups, chosen)),
      # A term names a column and one of its categories.
      constant = vapply(strsplit_term(terms, drawn), function(term) values[[term[1]]] == term[2], NA) + 0,
      response = if (response %in% drawn) {
        if (is.null(event)) as.numeric(values[[response]]) else (values[[response]] == event) + 0
      }
    )
  })
  target <- if (!response %in% drawn) {
    y <- release$data[[response]]
    if (is.null(event)) as.numeric(y) else (label(y) == event) + 0
  }
  if (!is.null(target) && anyNA(target)) stop("'", response, "' is not a number in all records")
  found <- corrected(known, combinations, target, w, model)
  names <- c(colnames(known), terms)
  order <- c("intercept", unlist(lapply(covariates, function(name) names[names == name | startsWith(names, paste0(name, "="))])))
  dimnames(found$covariance) <- list(names, names)
  names(found$estimate) <- names
  error <- sqrt(diag(found$covariance))[order]
  list(
    coefficients = data.frame(term = order, estimate = found$estimate[order], standard_error = error, row.names = NULL),
    covariance = found$covariance[order, order]
  )
}

# Columns of numbers of a covariate that was released unchanged: itself, or indicators of all categories but the first.
covariate <- function(release, name) {
  x <- release$data[[name]]
  number <- suppressWarnings(as.numeric(x))
  if (!anyNA(number)) return(matrix(number, dimnames = list(NULL, name)))
  found <- scores_or_indicators(release, name)[, -1, drop = FALSE]
  colnames(found) <- paste0(name, "=", colnames(found))
  found
}

# The releases that the randomised columns belong to: for each the scores of its categories, and their values.
homes <- function(release, drawn) {
  found <- list()
  left <- drawn
  while (length(left)) {
    one <- column_of(release, left[1])
    scores <- scores_of(release, one)
    values <- lapply(colnames(scores), function(x) {
      if (length(one$columns) == 1) setNames(list(x), left[1]) else setNames(as.list(split_label(x)), one$columns)
    })
    found <- c(found, list(list(scores = scores, values = values)))
    left <- setdiff(left, c(left[1], one$columns))
  }
  found
}

dummies <- function(groups, name) {
  for (one in groups) {
    if (name %in% names(one$values[[1]])) {
      labels <- unique(vapply(one$values, function(value) value[[name]], ""))
      return(paste0(rep(name, length(labels) - 1), "=", labels[-1]))
    }
  }
}

strsplit_term <- function(terms, columns) {
  lapply(terms, function(term) {
    name <- columns[startsWith(term, paste0(columns, "="))]
    name <- name[which.max(nchar(name))]
    c(name, substring(term, nchar(name) + 2))
  })
}

# Newton's method, with halved steps, in units of covariates with variance 1.
corrected <- function(known, combinations, target, w, model) {
  n <- nrow(known)
  centre <- colMeans(known)
  scale <- sqrt(colMeans(sweep(known, 2, centre)^2))
  centre[1] <- 0
  scale[1] <- 1
  if (any(scale == 0)) stop("a covariate has one value only: leave it out")
  z <- sweep(sweep(known, 2, centre), 2, scale, "/")
  a <- ncol(z)
  extra <- length(combinations[[1]]$constant)
  equations <- function(b) {
    psi <- matrix(0, n, a + extra)
    jacobian <- matrix(0, a + extra, a + extra)
    for (one in combinations) {
      terms <- cbind(z, matrix(one$constant, n, extra, byrow = TRUE))
      eta <- drop(terms %*% b)
      mean <- if (model == "logistic") stats::plogis(eta) else eta
      slope <- if (model == "logistic") mean * (1 - mean) else 1
      psi <- psi + one$scores * ((if (is.null(target)) one$response else target) - mean) * terms
      jacobian <- jacobian + crossprod(terms, w * one$scores * slope * terms)
    }
    list(psi = psi, jacobian = jacobian, size = sum(abs(colSums(w * psi))))
  }
  b <- rep(0, a + extra)
  now <- equations(b)
  for (step in seq_len(100)) {
    if (rcond(now$jacobian) < 1e-13) stop("the covariates are collinear, or determined by too few records")
    move <- solve(now$jacobian, colSums(w * now$psi))
    size <- 1
    repeat {
      new <- equations(b + size * move)
      if (new$size < now$size || size < 1e-6 || max(abs(move)) < 1e-10) break
      size <- size / 2
    }
    b <- b + size * move
    now <- new
    done <- max(abs(move)) < 1e-10 * max(1, abs(b))
    if (done) break
  }
  eigen <- eigen(now$jacobian, symmetric = TRUE, only.values = TRUE)$values
  if (!done || min(eigen) <= 1e-10 * max(eigen)) stop("the corrected equations have no stable solution: use fewer covariates")
  inverse <- solve(now$jacobian)
  covariance <- inverse %*% crossprod(w * now$psi) %*% t(inverse) * n / (n - 1)
  back <- diag(c(1 / scale, rep(1, extra)), a + extra)
  back[1, seq_len(a)] <- back[1, seq_len(a)] - centre / scale
  back[1, 1] <- 1
  list(estimate = drop(back %*% b), covariance = back %*% covariance %*% t(back))
}
