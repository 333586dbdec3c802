import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { $api, type ChangeRequest, type Schemas, send } from '../api/client';
import type { Cancellation, Change, Subscription } from '../api/objects';
import { money } from '../format/money';
import { showCode, showInstant } from '../format/text';
import { ActionDialog } from '../ui/dialog';
import { CheckInput, SelectInput, TextInput } from '../ui/field';
import { Problem } from '../ui/page';
import { useSettled } from '../ui/settled';
import { SmallTable } from '../ui/table';
import css from '../ui/ui.module.css';

/** Answer to a preview: an invoice, or the subscription if the change takes effect later. */
type Preview = Schemas['SubscriptionPreviewDto'] | Subscription;

const PLANS_SHOWN = 100;
const QUANTITY = /^\d+(\.\d{1,12})?$/;

type PreviewQuery = UseQueryResult<Preview>;

/** Requests a preview of the invoice that a command would create. Sends no request if `request` is null. */
export function usePreview(request: ChangeRequest | null): PreviewQuery {
  return useQuery({
    queryKey: ['preview', request?.path, request?.body],
    enabled: request !== null,
    staleTime: 0,
    queryFn: () =>
      request === null
        ? Promise.reject(new Error('There is no request.'))
        : send<Preview>({ ...request, path: `${request.path}?preview=true` }),
  });
}

export function InvoicePreview({ preview }: { readonly preview: PreviewQuery }): ReactNode {
  if (preview.data === undefined) {
    return preview.error === null ? (
      <p role="status">Computing the invoice…</p>
    ) : (
      <Problem error={preview.error} />
    );
  }
  if (preview.data.object === 'subscription') {
    return <p role="status">No invoice now. The subscription changes without a charge.</p>;
  }
  const { lines, total, amount_due, currency, bills_at } = preview.data;
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
      {lines.length > 0 && <PreviewTotals invoice={preview.data} />}
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

export interface SubscriptionDialogProps {
  readonly subscription: Subscription;
  readonly onClose: () => void;
}

export function ChangeDialog({ subscription, onClose }: SubscriptionDialogProps): ReactNode {
  const { id, currency } = subscription;
  const plans = $api.useQuery('get', '/v1/plans', { params: { query: { limit: PLANS_SHOWN } } });
  const [planId, setPlanId] = useState(subscription.plan_id);
  const [quantity, setQuantity] = useState(subscription.quantity);
  const [when, setWhen] = useState<Change['when']>('now');
  const offered = (plans.data?.data ?? []).filter((plan) => plan.currency === currency);
  const fault = QUANTITY.test(quantity) ? null : 'Write a number.';
  const body = {
    when,
    ...(planId !== subscription.plan_id && { plan_id: planId }),
    ...(quantity !== subscription.quantity && { quantity }),
  } satisfies Change;
  const isChanged = Object.keys(body).length > 1 && fault === null;
  const request: ChangeRequest = { method: 'POST', path: `/v1/subscriptions/${id}/change`, body };
  const settled = useSettled(JSON.stringify(body)) === JSON.stringify(body);
  const preview = usePreview(isChanged && settled ? request : null);
  return (
    <ActionDialog
      title="Change the subscription"
      submitLabel="Confirm the change"
      request={(idempotencyKey) =>
        preview.isSuccess && isChanged && settled ? { ...request, idempotencyKey } : null
      }
      done={() => (when === 'now' ? 'Changed.' : 'The change is scheduled.')}
      onClose={onClose}
    >
      <SelectInput
        label="Plan"
        hint={`Plans in ${currency}.`}
        value={planId}
        options={offered.map((plan) => [plan.id, `${plan.name} (${plan.code})`])}
        onChange={setPlanId}
      />
      <TextInput
        label="Quantity"
        inputMode="decimal"
        value={quantity}
        fault={fault}
        onChange={setQuantity}
      />
      <SelectInput
        label="When"
        value={when}
        options={[
          ['now', 'Now, prorated as the plan says'],
          ['period_end', 'At the end of the period'],
        ]}
        onChange={(value) => setWhen(value as Change['when'])}
      />
      {isChanged && <InvoicePreview preview={preview} />}
      {!isChanged && <p className={css['hint']}>Choose another plan or quantity.</p>}
    </ActionDialog>
  );
}

export interface Command {
  readonly path: 'pause' | 'resume' | 'uncancel';
  readonly label: string;
  readonly explains: string;
}

export function CommandDialog({
  subscription,
  command: { path, label, explains },
  onClose,
}: SubscriptionDialogProps & { readonly command: Command }): ReactNode {
  const request: ChangeRequest = {
    method: 'POST',
    path: `/v1/subscriptions/${subscription.id}/${path}`,
  };
  const preview = usePreview(request);
  return (
    <ActionDialog
      title={`${label} the subscription`}
      submitLabel={label}
      request={(idempotencyKey) => ({ ...request, idempotencyKey })}
      done={() => `Done: ${label.toLowerCase()}.`}
      onClose={onClose}
    >
      <p>{explains}</p>
      <InvoicePreview preview={preview} />
    </ActionDialog>
  );
}

export function CancelDialog({ subscription, onClose }: SubscriptionDialogProps): ReactNode {
  const [when, setWhen] = useState<'now' | 'period_end'>('period_end');
  const [creditsUnused, setCreditsUnused] = useState(false);
  const body: Cancellation = { when, ...(when === 'now' && { credit_unused: creditsUnused }) };
  const path = `/v1/subscriptions/${subscription.id}/cancel`;
  const request: ChangeRequest = { method: 'POST', path, body };
  const preview = usePreview(request);
  return (
    <ActionDialog
      title="Cancel the subscription"
      submitLabel="Cancel the subscription"
      kind="danger"
      request={(idempotencyKey) => ({ ...request, idempotencyKey })}
      done={() => (when === 'now' ? 'Canceled.' : 'Ends with its period.')}
      onClose={onClose}
    >
      <SelectInput
        label="When"
        value={when}
        options={[
          [
            'period_end',
            `At the end of the period, ${showInstant(subscription.current_period_end)}`,
          ],
          ['now', 'Now'],
        ]}
        onChange={(value) => setWhen(value as typeof when)}
      />
      {when === 'now' && (
        <CheckInput
          label="Credit the unused part of what was billed in advance"
          isChecked={creditsUnused}
          onChange={setCreditsUnused}
        />
      )}
      <InvoicePreview preview={preview} />
    </ActionDialog>
  );
}
