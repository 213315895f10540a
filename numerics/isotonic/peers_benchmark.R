# SPDX-License-Identifier: Apache-2.0
# R's side of peers_benchmark.py: reads a command a line from stdin, answers a line on stdout. Data
# pass through files and stay here, so that the times are of the fits alone.
#
#   load FILE N              y and w, N doubles each                    -> ok
#   time isoreg|isomean K    runs K fits                                -> seconds of all K
#   save isoreg|isomean FILE writes the fit                             -> ok
#   drop                     forgets the data                           -> ok
have_fdrtool <- requireNamespace("fdrtool", quietly = TRUE)
cat(if (have_fdrtool) "isoreg isomean" else "isoreg", as.character(getRversion()),
    if (have_fdrtool) as.character(packageVersion("fdrtool")) else "", "\n")
flush(stdout())

fits <- list(
  # The least work of it that R's users can ask for: y alone, in order.
  isoreg = function() stats::isoreg(y)$yf,
  # fdrtool's weighted PAVA without monoreg's search for ties.
  isomean = function() fdrtool:::pvt.isoMean(y, w)
)

input <- file("stdin", "r")
while (length(line <- readLines(input, n = 1)) == 1) {
  word <- strsplit(line, " ")[[1]]
  answer <- switch(word[1],
    load = {
      from <- file(word[2], "rb")
      n <- as.integer(word[3])
      y <- readBin(from, "double", n)
      w <- readBin(from, "double", n)
      close(from)
      "ok"
    },
    time = {
      fit <- fits[[word[2]]]
      gc(FALSE)
      begin <- Sys.time()
      for (k in seq_len(as.integer(word[3]))) fit()
      sprintf("%.9f", as.numeric(difftime(Sys.time(), begin, units = "secs")))
    },
    save = {
      to <- file(word[3], "wb")
      writeBin(fits[[word[2]]](), to)
      close(to)
      "ok"
    },
    drop = {
      y <- w <- NULL
      gc(FALSE)
      "ok"
    }
  )
  cat(answer, "\n", sep = "")
  flush(stdout())
}
