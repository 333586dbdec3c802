import type { ProblemError } from '../../../platform/errors';
import {
  IdField,
  IdListField,
  InstantField,
  NestedListField,
  toWireAmount,
} from '../../../platform/http';
import { PriceInputDto, toPriceTerms } from '../../catalog';
import type { SimulationCommand, SimulationStep } from '../../invoicing';

const MAX_PRICES = 100;
const MAX_CUSTOMERS = 1_000;

export class SimulatePricesDto {
  @IdField('plan', 'The plan, with all its versions.', {
    example: 'plan_01h455vb4pex5vsknk084sn02q',
  })
  readonly plan_id!: string;
  @NestedListField(
    PriceInputDto,
    'All new prices. Each replaces prices of the same name, meter, `by_group` and `timing`. Other names are no longer sold.',
    { min: 1, max: MAX_PRICES },
  )
  readonly prices!: readonly PriceInputDto[];
  @InstantField('Billing periods that begin then or later.', {
    example: '2026-01-01T00:00:00.000Z',
  })
  readonly from!: string;
  @InstantField('Billing periods that begin before then.', { example: '2026-07-01T00:00:00.000Z' })
  readonly to!: string;
  @IdListField('cus', 'Only these customers. Default: all but those on test clocks.', {
    min: 1,
    max: MAX_CUSTOMERS,
    nullable: true,
    example: null,
  })
  readonly customer_ids?: readonly string[] | null;
}

export function toSimulationCommand(dto: SimulatePricesDto): SimulationCommand {
  return {
    planId: dto.plan_id,
    prices: dto.prices.map(toPriceTerms),
    from: new Date(dto.from),
    to: new Date(dto.to),
    customerIds: dto.customer_ids ?? null,
  };
}

/** Returns the line that reports an error at the end of a streamed response, whose HTTP status was already sent. */
export function toProblemLine({ definition, occurrence }: ProblemError): object {
  return { type: 'problem', code: definition.code, detail: occurrence.detail };
}

export function toSimulationLine(step: SimulationStep): object {
  if (step.kind === 'progress') {
    return { type: 'progress', customers: step.customers, of: step.of };
  }
  const { oldMinor, newMinor } = step;
  const amounts = {
    old_amount: toWireAmount(oldMinor),
    new_amount: toWireAmount(newMinor),
    difference: toWireAmount(newMinor - oldMinor),
  };
  if (step.kind === 'customer') {
    return { type: 'customer', customer_id: step.customerId, ...amounts };
  }
  const { currency, customers, winners, losers } = step;
  return { type: 'totals', currency, customers, winners, losers, ...amounts };
}
