import type { ReactNode } from 'react';
import type { Invoice } from '../api/objects';
import { money } from '../format/money';
import { showCode } from '../format/text';
import type { Scope } from '../layout/access';
import { ActionDialog } from '../ui/dialog';

export interface InvoiceAction {
  readonly path: string;
  readonly needs: Scope;
  readonly label: string;
  readonly done: string;
  readonly explains: string;
  readonly statuses: readonly Invoice['status'][];
  readonly isDangerous?: boolean;
  /** Returns the amount that the action changes, in minor units. Default: the total of the invoice. */
  readonly amount?: (invoice: Invoice) => number;
}

export const COLLECT: InvoiceAction = {
  path: 'pay',
  needs: 'payments:write',
  label: 'Collect',
  done: 'Payment made',
  explains: 'Charges the default payment method of the customer for what remains.',
  statuses: ['open', 'uncollectible'],
  // Pending payments already charge a part of the remaining amount.
  amount: ({ amount_remaining, amount_pending }) => Math.max(0, amount_remaining - amount_pending),
};

export const INVOICE_ACTIONS: readonly InvoiceAction[] = [
  {
    path: 'finalize',
    needs: 'invoices:write',
    label: 'Finalize',
    done: 'Finalized',
    explains: 'Gives the draft its number, posts it to the ledger and starts its collection.',
    statuses: ['draft'],
  },
  COLLECT,
  {
    path: 'void',
    needs: 'invoices:write',
    label: 'Void',
    done: 'Voided',
    explains: 'Takes the invoice back. Nothing is due any more, and the ledger is reversed.',
    statuses: ['open', 'uncollectible'],
    isDangerous: true,
  },
  {
    path: 'mark-uncollectible',
    needs: 'invoices:write',
    label: 'Mark as uncollectible',
    done: 'Marked as uncollectible',
    explains: 'Writes off what remains. The invoice can still be paid.',
    statuses: ['open'],
    isDangerous: true,
    amount: ({ amount_remaining }) => amount_remaining,
  },
  {
    path: 'reissue',
    needs: 'invoices:write',
    label: 'Regenerate',
    done: 'Regenerated',
    explains: 'Makes a new draft with the charges of this void invoice.',
    statuses: ['void'],
  },
];

export interface InvoiceActionDialogProps {
  readonly invoice: Invoice;
  readonly action: InvoiceAction;
  readonly onClose: () => void;
}

export function InvoiceActionDialog({
  invoice,
  action,
  onClose,
}: InvoiceActionDialogProps): ReactNode {
  const amount = action.amount?.(invoice) ?? invoice.total;
  return (
    <ActionDialog<{ readonly status?: string }>
      title={`${action.label}: ${invoice.number ?? 'draft'}, ${money(amount, invoice.currency)}`}
      submitLabel={action.label}
      kind={action.isDangerous === true ? 'danger' : 'primary'}
      request={(idempotencyKey) => ({
        method: 'POST',
        path: `/v1/invoices/${invoice.id}/${action.path}`,
        body: {},
        idempotencyKey,
      })}
      done={({ status }) =>
        action === COLLECT
          ? `Payment ${showCode(status)}: ${invoice.number ?? ''}`
          : `${action.done}: ${invoice.number ?? 'the draft'}`
      }
      onClose={onClose}
    >
      <p>{action.explains}</p>
    </ActionDialog>
  );
}
