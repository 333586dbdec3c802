/** Body field whose keys the caller chooses. */
export const FREE_FORM_FIELD = 'metadata';

/**
 * Hides a free-form value from Nest and class-transformer while the body becomes a DTO, in a private field that they
 * cannot read. Nest would delete keys named `constructor` or `prototype`, and class-transformer would treat
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
