// SPDX-License-Identifier: Apache-2.0

/** Something an author has to mend, with the place: the build ends and prints it. */
export class Problem extends Error {
  override name = "Problem";
  constructor(
    message: string,
    readonly file: string,
    readonly line?: number,
    readonly column?: number,
  ) {
    super(message);
  }

  override toString(): string {
    const place = [this.file, this.line, this.column]
      .filter((part) => part !== undefined)
      .join(":");
    return `${place}: ${this.message}`;
  }
}

/** All the problems of one build, printed together. */
export class Problems {
  readonly found: Problem[] = [];

  add(message: string, file: string, line?: number, column?: number): void {
    this.found.push(new Problem(message, file, line, column));
  }

  /** Ends the program with status 1 when there is any. */
  exitIfAny(): void {
    if (this.found.length === 0) return;
    for (const problem of this.found) console.error(problem.toString());
    console.error(`${this.found.length} to mend`);
    process.exit(1);
  }
}
