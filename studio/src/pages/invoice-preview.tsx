import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import {
  api,
  type ChangeRequest,
  readTagged,
  type Schemas,
  sendForTag,
  type Tagged,
} from '../api/client';
import type { Subscription } from '../api/objects';
import { money } from '../format/money';
import { showCode, showInstant } from '../format/text';
import { ActionDialog, type ActionDialogProps } from '../ui/dialog';
import { useFresh } from '../ui/fresh';
import { Loaded, type Reading } from '../ui/loaded';
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
 * the present input is shown, read since the dialog opened. The service refuses the command if it would have another
 * plan version.
 */
export function PreviewedDialog<Answer>(props: PreviewedDialogProps<Answer>): ReactNode {
  const { request } = props;
  const preview = useSettledFresh(request, request && (() => readPreview(request)));
  return <ConfirmDialog {...props} preview={preview} />;
}

export interface SubscriptionCommandDialogProps<Answer> extends Omit<
  PreviewedDialogProps<Answer>,
  'request' | 'children'
> {
  /** The subscription as the page shows it. */
  readonly subscription: Subscription;
  /** Returns the command, or null while the fields are incomplete. */
  readonly request: (present: Subscription) => ChangeRequest | null;
  /** Returns what has changed, to be added to the notice that the subscription has changed. */
  readonly differences?: (present: Subscription) => string;
  readonly children: (present: Subscription) => ReactNode;
}

/**
 * As {@link PreviewedDialog}, for a command to a subscription. Shows the subscription for which the preview was
 * calculated, and says so if it has changed. The service refuses the command if it changes after that. The page reads
 * its data again when the dialog closes, also without the command.
 */
export function SubscriptionCommandDialog<Answer>({
  subscription,
  request: requestOf,
  differences = () => '',
  children,
  ...rest
}: SubscriptionCommandDialogProps<Answer>): ReactNode {
  const [opened] = useState(subscription);
  const [present, setPresent] = useState(subscription);
  const request = requestOf(present);
  const { data, ...reading } = useSettledFresh(request, () => readPreviewOf(opened.id, request));
  if (data !== undefined && data.subscription !== present) setPresent(data.subscription);
  const hasChanged = JSON.stringify(present) !== JSON.stringify(opened);
  const cache = useQueryClient();
  useEffect(() => {
    if (!hasChanged) return undefined;
    return () => void cache.invalidateQueries();
  }, [cache, hasChanged]);
  return (
    <ConfirmDialog {...rest} request={request} preview={{ ...reading, data: data?.preview }}>
      {children(present)}
      {hasChanged && (
        <p className={css['notice']} role="status">
          The subscription has changed since this dialog was opened.{differences(present)}
        </p>
      )}
    </ConfirmDialog>
  );
}

/** Reads data for a command as `useFresh` does, once the input has settled. */
function useSettledFresh<Data>(
  request: ChangeRequest | null,
  load: (() => Promise<Data>) | null,
): Reading<Data> {
  const text = JSON.stringify(request);
  const isSettled = useSettled(text) === text;
  return useFresh(['preview', text], isSettled ? load : null);
}

const readPreview = (request: ChangeRequest): Promise<Tagged<Preview>> =>
  sendForTag({ ...request, path: `${request.path}?preview=true` });

interface PreviewOfSubscription {
  /** Undefined if there is no command. */
  readonly preview: Tagged<Preview> | undefined;
  /** The subscription for which the preview was calculated. */
  readonly subscription: Subscription;
}

/**
 * Reads the preview of a command, then the subscription, because a preview does due work such as a renewal first.
 * @throws {Error} when the subscription has changed between the two requests
 */
async function readPreviewOf(
  id: string,
  request: ChangeRequest | null,
): Promise<PreviewOfSubscription> {
  const preview = request === null ? undefined : await readPreview(request);
  const { answer, tag } = await readTagged(
    api.GET('/v1/subscriptions/{id}', { params: { path: { id } } }),
  );
  if (preview !== undefined && preview.tag !== tag)
    throw new Error('The subscription has just changed. Try again.');
  return { preview, subscription: answer };
}

function ConfirmDialog<Answer>({
  request,
  preview,
  sellsPlan = false,
  children,
  ...rest
}: PreviewedDialogProps<Answer> & { readonly preview: Reading<Tagged<Preview>> }): ReactNode {
  const answer = preview.data?.answer;
  const planVersionId = sellsPlan ? answer?.plan_version_id : undefined;
  return (
    <ActionDialog
      {...rest}
      isReady={answer !== undefined}
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
