/** Body field whose keys the caller chooses. */
export const FREE_FORM_FIELD = 'metadata';

/**
 * Keeps a free-form value in a private field, so that Nest and class-transformer cannot change it while the body
 * becomes a DTO. Nest would delete keys named `constructor` or `prototype`, and class-transformer would treat
 * `constructor` as a class.
 */
export class FreeForm {
  readonly #sent: unknown;

  constructor(sent?: unknown) {
    this.#sent = sent;
  }

  static sentIn(value: unknown): unknown {
    return value instanceof FreeForm ? value.#sent : value;
  }
}
