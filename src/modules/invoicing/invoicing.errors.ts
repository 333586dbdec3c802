import { defineProblem } from '../../platform/errors';

export const invoiceNotFound = defineProblem(
  {
    code: 'invoice_not_found',
    kind: 'not_found',
    title: 'There is no such invoice',
    meaning: 'The id in the path is not the id of an invoice.',
  },
  (id: string) => ({ detail: `There is no invoice ${JSON.stringify(id)}.` }),
);

export const invoiceLineNotFound = defineProblem(
  {
    code: 'invoice_line_not_found',
    kind: 'not_found',
    title: 'The invoice has no such line',
    meaning: 'The id in the path is not the id of a line of this invoice.',
  },
  (id: string) => ({ detail: `The invoice has no line ${JSON.stringify(id)}.` }),
);

export const invoiceTooLarge = defineProblem(
  {
    code: 'invoice_too_large',
    kind: 'rule_broken',
    title: 'The amounts of the invoice are too large',
    meaning: 'An amount, or the sum of the lines, would be beyond 9007199254740991 minor units.',
  },
  () => ({ detail: 'An amount of the invoice would be beyond what JSON can carry.' }),
);

export const invoiceCredited = defineProblem(
  {
    code: 'invoice_credited',
    kind: 'conflict',
    title: 'Credit was given for lines of the invoice',
    meaning:
      'A later invoice or a credit note gave credit for lines of this one, so it cannot be voided. Void a credit note first; what a later invoice credited stands.',
  },
  (id: string) => ({ detail: `Lines of the invoice ${id} were credited since.` }),
);
