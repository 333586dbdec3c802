/** The field of a body whose keys are the caller's own. */
export const FREE_FORM_FIELD = 'metadata';

/**
 * Carries a free-form value past what would change it on its way to a DTO: Nest deletes every key named `constructor` or
 * `prototype`, and class-transformer takes the first for a class. Neither looks into a private field.
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
