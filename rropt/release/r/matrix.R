# A release from a table of its matrices, with one line for each entry, and from what is known of its columns.

release_from <- function(data, probabilities, columns, unchanged) {
  columns <- lapply(columns, function(one) {
    own <- probabilities[probabilities$column == joined(as.list(one$released)), ]
    one$strata <- lapply(split(own, factor(own$stratum, unique(own$stratum))), function(table) {
      labels <- list(unique(table$category), unique(table$answer))
      matrix(as.numeric(table$probability), length(labels[[1]]), byrow = TRUE, dimnames = labels)
    })
    one
  })
  list(data = data, columns = columns, unchanged = unchanged)
}
