import type { ReactNode } from 'react';
import { type ChangeRequest, type Schemas, sendForTag } from '../api/client';
import type { Subscription } from '../api/objects';
import { money } from '../format/money';
import { showCode, showInstant } from '../format/text';
import { ActionDialog, type ActionDialogProps } from '../ui/dialog';
import { useFresh } from '../ui/fresh';
import { Loaded } from '../ui/loaded';
import { useSettled } from '../ui/settled';
import { SmallTable } from '../ui/table';
import css from '../ui/ui.module.css';

/** Answer to a preview: an invoice, or the subscription if the change takes effect later. */
type Preview = Schemas['SubscriptionPreviewDto'] | Subscription;

export interface PreviewedDialogProps<Answer> extends Omit<
  ActionDialogProps<Answer>,
  'request' | 'isReady' | 'ifMatch'
> {
  /** The command, which the API can preview, or null while the fields are incomplete. */
  readonly request: ChangeRequest | null;
  /** True if the command sells a plan. It is then confirmed with the plan version of the preview. */
  readonly sellsPlan?: boolean;
}

/**
 * A dialog that shows the invoice that a command would create. The user can confirm the command only while a preview of
 * the present input is shown, read since the dialog opened. The service refuses the command if the object has changed
 * since the preview, or would have another plan version.
 */
export function PreviewedDialog<Answer>({
  request,
  sellsPlan = false,
  children,
  ...rest
}: PreviewedDialogProps<Answer>): ReactNode {
  const text = JSON.stringify(request);
  const isSettled = useSettled(text) === text;
  const preview = useFresh(
    ['preview', text],
    request === null || !isSettled
      ? null
      : () => sendForTag<Preview>({ ...request, path: `${request.path}?preview=true` }),
  );
  const answer = preview.data?.answer;
  const planVersionId = sellsPlan ? answer?.plan_version_id : undefined;
  return (
    <ActionDialog
      {...rest}
      isReady={preview.data !== undefined}
      ifMatch={preview.data?.tag}
      request={(idempotencyKey) => request && { ...request, idempotencyKey, planVersionId }}
    >
      {children}
      {request !== null && (
        <Loaded query={preview}>{({ answer }) => <InvoicePreview preview={answer} />}</Loaded>
      )}
    </ActionDialog>
  );
}

function InvoicePreview({ preview }: { readonly preview: Preview }): ReactNode {
  if (preview.object === 'subscription') {
    return <p role="status">No invoice now. The subscription changes without a charge.</p>;
  }
  const { lines, total, amount_due, currency, bills_at } = preview;
  return (
    <section aria-label="Preview of the invoice">
      <p role="status">
        {lines.length === 0
          ? 'Nothing is billed.'
          : `Billed at ${showInstant(bills_at)}: total ${money(total, currency)}, due ${money(amount_due, currency)}.`}
      </p>
      <SmallTable
        label="Preview"
        rows={lines}
        keyOf={({ id }) => id}
        empty="No lines."
        columns={[
          {
            title: 'Description',
            cell: ({ description }) => description,
          },
          { title: 'Type', cell: ({ type }) => showCode(type) },
          { title: 'Amount', isNumber: true, cell: ({ amount }) => money(amount, currency) },
        ]}
      />
      {lines.length > 0 && <PreviewTotals invoice={preview} />}
    </section>
  );
}

/** Shows how the amount due results from the lines. */
function PreviewTotals({
  invoice,
}: {
  readonly invoice: Schemas['SubscriptionPreviewDto'];
}): ReactNode {
  const { currency, subtotal, discount, taxes, tax_note, total } = invoice;
  const { credit_applied, credited_to_balance, amount_due } = invoice;
  const steps: readonly (readonly [term: string, minor: number])[] = [
    ['Subtotal', subtotal],
    ...optionalStep('Discount', -discount),
    ...taxes.map(
      ({ name, percentage, inclusive, tax }) =>
        [`${name} ${percentage} %${inclusive ? ', included' : ''}`, tax] as const,
    ),
    ['Total', total],
    ...optionalStep('Paid with credit', -credit_applied),
    ...optionalStep('Given as credit', credited_to_balance),
    ['Due', amount_due],
  ];
  return (
    <>
      <dl className={css['totals']}>
        {steps.map(([term, minor]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{money(minor, currency)}</dd>
          </div>
        ))}
      </dl>
      {tax_note !== null && <p className={css['hint']}>No tax: {showCode(tax_note)}.</p>}
    </>
  );
}

const optionalStep = (term: string, minor: number): readonly (readonly [string, number])[] =>
  minor === 0 ? [] : [[term, minor]];
