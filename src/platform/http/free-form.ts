/** Body field whose keys the caller chooses. */
export const FREE_FORM_FIELD = 'metadata';

/**
 * Protects a free-form value on its way to a DTO. Nest deletes keys named `constructor` or `prototype`, and
 * class-transformer treats `constructor` as a class. Neither reads a private field.
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
