import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api, readTagged } from '../api/client';
import type { Invoice, Payment } from '../api/objects';
import { money } from '../format/money';
import { showCode } from '../format/text';
import type { Scope } from '../layout/access';
import { ActionDialog } from '../ui/dialog';
import { useFresh } from '../ui/fresh';
import { Loaded } from '../ui/loaded';
import css from '../ui/ui.module.css';
import { DraftAmounts, readDraftUsage } from './draft-amounts';

export interface InvoiceAction {
  readonly path: string;
  readonly needs: Scope;
  readonly label: string;
  readonly done: string;
  readonly explains: string;
  readonly statuses: readonly Invoice['status'][];
  readonly isDangerous?: boolean;
  /**
   * Returns the amount that the action changes, in minor units. Default: the total of the invoice. Null: the amount is
   * not known before the action is done.
   */
  readonly amount?: ((invoice: Invoice) => number) | null;
}

/** Returns what can be collected: pending payments already charge a part of the remaining amount. */
function collectableOf({ amount_remaining, amount_pending }: Invoice): number {
  return Math.max(0, amount_remaining - amount_pending);
}

export const COLLECT: InvoiceAction = {
  path: 'pay',
  needs: 'payments:write',
  label: 'Collect',
  done: 'Payment made',
  explains: 'Charges the default payment method of the customer for what remains.',
  statuses: ['open', 'uncollectible'],
  amount: collectableOf,
};

const FINALIZE: InvoiceAction = {
  path: 'finalize',
  needs: 'invoices:write',
  label: 'Finalize',
  done: 'Finalized',
  explains: 'Gives the draft its number, posts it to the ledger and starts its collection.',
  statuses: ['draft'],
  amount: null,
};

export const REGENERATE: InvoiceAction = {
  path: 'reissue',
  needs: 'invoices:write',
  label: 'Regenerate',
  done: 'Regenerated as',
  explains:
    'Makes and finalizes a new invoice for what is still owed of this void one, with the present coupons, taxes and credit.',
  statuses: ['void'],
  amount: null,
};

export const INVOICE_ACTIONS: readonly InvoiceAction[] = [
  FINALIZE,
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
  REGENERATE,
];

export interface InvoiceActionDialogProps {
  readonly invoice: Pick<Invoice, 'id' | 'number'>;
  readonly action: InvoiceAction;
  readonly onClose: () => void;
}

/** Shows the invoice as it is when the dialog opens, because the page may be outdated. */
export function InvoiceActionDialog({
  invoice: { id, number },
  action,
  onClose,
}: InvoiceActionDialogProps): ReactNode {
  const query = useFresh(['invoice', id], async () => {
    const { answer: invoice, tag } = await readTagged(
      api.GET('/v1/invoices/{id}', { params: { path: { id } } }),
    );
    return { invoice, tag, usage: action === FINALIZE ? await readDraftUsage(invoice) : [] };
  });
  const navigate = useNavigate();
  const present = query.data?.invoice;
  const isPossible = present !== undefined && action.statuses.includes(present.status);
  const isNothingLeft = isPossible && action === COLLECT && collectableOf(present) === 0;
  return (
    <ActionDialog<Invoice | Payment>
      title={titleOf(action, number, isPossible ? present : undefined)}
      action={`${action.label}: invoice`}
      submitLabel={action.label}
      kind={action.isDangerous === true ? 'danger' : 'primary'}
      isReady={isPossible && !isNothingLeft}
      ifMatch={query.data?.tag}
      request={(idempotencyKey) => ({
        method: 'POST',
        path: `/v1/invoices/${id}/${action.path}`,
        body: {},
        idempotencyKey,
      })}
      done={(answer) => doneText(action, answer, number)}
      onDone={(answer) => {
        if (action === REGENERATE)
          void navigate({ to: '/invoices/$id', params: { id: answer.id } });
      }}
      onClose={onClose}
    >
      <p>{action.explains}</p>
      <Loaded query={query}>
        {({ invoice, usage }) => (
          <>
            {!isPossible && (
              <p className={css['notice']} role="status">
                Not possible any more: the invoice is {showCode(invoice.status)}.
              </p>
            )}
            {isNothingLeft && (
              <p className={css['notice']} role="status">
                Nothing can be collected now: a payment of{' '}
                {money(invoice.amount_pending, invoice.currency)} is pending.
              </p>
            )}
            {isPossible && action === FINALIZE && <DraftAmounts draft={invoice} usage={usage} />}
          </>
        )}
      </Loaded>
    </ActionDialog>
  );
}

function titleOf(
  { label, amount }: InvoiceAction,
  number: string | null,
  present: Invoice | undefined,
): string {
  const named = `${label}: ${number ?? 'draft'}`;
  if (present === undefined || amount === null) return named;
  return `${named}, ${money(amount?.(present) ?? present.total, present.currency)}`;
}

function doneText(action: InvoiceAction, answer: Invoice | Payment, number: string | null): string {
  if ('amount' in answer) {
    const { status, amount, currency } = answer;
    return `Payment ${showCode(status)}: ${money(amount, currency)} for ${number ?? 'the invoice'}`;
  }
  return action === FINALIZE || action === REGENERATE
    ? `${action.done} ${answer.number ?? 'the draft'}: total ${money(answer.total, answer.currency)}`
    : `${action.done}: ${number ?? 'the draft'}`;
}
