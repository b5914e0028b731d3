# What the estimates of a release must satisfy, whatever was drawn.
library(rropt)
release <- rr_release(system.file("extdata", "safe.csv", package = "rropt"))
scores <- rr_scores(release, "drinks")
stopifnot(
  identical(dim(scores), c(200L, 3L)),
  all(abs(rowSums(scores) - 1) < 1e-12),
  # Unbiased: the mean score at each true category is its indicator.
  all(abs(rr_matrix(release, "drinks") %*% scores[match(colnames(scores), release$data$drinks), ] - diag(3)) < 1e-12)
)
shares <- rr_frequencies(release, "drinks")
table <- rr_table(release, "region", "drinks")
stopifnot(
  all(abs(shares$estimate - colMeans(scores)) < 1e-12),
  all(abs(colSums(table$estimate) - shares$estimate) < 1e-12),
  all(abs(rowSums(table$estimate) - c(table(release$data$region)) / 200) < 1e-12)
)
means <- rr_mean(release, "income", "drinks", "weight")
size <- rr_frequencies(release, "drinks", "weight")$estimate
w <- as.numeric(release$data$weight)
stopifnot(abs(sum(size * means$estimate) - sum(w * as.numeric(release$data$income)) / sum(w)) < 1e-9)

for (wrong in list(quote(rr_scores(release, "income")), quote(rr_matrix(release, "region")))) {
  said <- tryCatch(eval(wrong), error = conditionMessage)
  stopifnot(grepl("is not a randomised column", said))
}

if (requireNamespace("survey", quietly = TRUE)) {
  design <- rr_svydesign(release, weights = ~as.numeric(weight))
  known <- survey::svymean(~`drinks=none` + `drinks=some` + `drinks=much`, design)
  own <- rr_frequencies(release, "drinks", "weight")
  stopifnot(
    all(abs(coef(known) - own$estimate) < 1e-12),
    all(abs(sqrt(diag(vcov(known))) - own$standard_error) < 1e-12)
  )
}
if (requireNamespace("openssl", quietly = TRUE)) {
  mechanism <- system.file("extdata", "mechanism.json", package = "rropt")
  drawn <- table(factor(rr_apply(rep("some", 1e5), mechanism), colnames(scores)))
  p <- chisq.test(drawn, p = rr_matrix(release, "drinks")["some", ])$p.value
  stopifnot(p > 1e-9)
}
