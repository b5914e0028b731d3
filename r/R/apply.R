# Draws from a mechanism: with integers and secure random bytes, so that the probabilities are exactly those stated.

rr_apply <- function(x, mechanism) {
  if (!requireNamespace("openssl", quietly = TRUE)) stop("this needs the package openssl")
  made <- integers_of(jsonlite::fromJSON(mechanism, simplifyVector = FALSE))
  if (any(made$below > 2^53) || any(made$entries < 0) || any(rowSums(made$entries) != made$below)) {
    stop("its integers are larger than 2^53, or its rows do not sum to their denominators: apply it in Python")
  }
  row <- match(as.character(x), made$inputs)
  if (anyNA(row)) stop("'", as.character(x)[is.na(row)][1], "' is not a category of this mechanism")
  found <- character(length(x))
  for (input in unique(row)) {
    own <- which(row == input)
    ends <- cumsum(made$entries[input, ])
    found[own] <- made$outputs[findInterval(uniform(length(own), made$below[input]), ends) + 1]
  }
  found
}

# n integers, each of 0, ..., below - 1 with the same probability; below is at most 2^53. A draw from 2^53 numbers that
# is not below the largest multiple of `below` is thrown away.
uniform <- function(n, below) {
  most <- 2^53 - (2^53 %% below)
  found <- numeric(0)
  while (length(found) < n) {
    bytes <- matrix(as.integer(openssl::rand_bytes(7 * n)), 7)
    bytes[7, ] <- bytes[7, ] %% 32L
    drawn <- colSums(bytes * 256^(0:6))
    found <- c(found, drawn[drawn < most] %% below)
  }
  found[seq_len(n)]
}
