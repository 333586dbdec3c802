import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsObject,
  ValidateNested,
} from 'class-validator';
import type { ProblemError } from '../../../platform/errors';
import { IsIdOf, IsInstant, Nullable, toWireAmount } from '../../../platform/http';
import { PriceInputDto, toPriceTerms } from '../../catalog';
import type { SimulationCommand, SimulationStep } from '../simulate-prices.service';

const MOST_PRICES = 100;
const MOST_CUSTOMERS = 1_000;

export class SimulatePricesDto {
  @IsIdOf('plan')
  @ApiProperty({
    description: 'What was sold; all its versions.',
    example: 'plan_01h455vb4pex5vsknk084sn02q',
  })
  readonly plan_id!: string;

  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_PRICES)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => PriceInputDto)
  @ApiProperty({
    type: [PriceInputDto],
    minItems: 1,
    maxItems: MOST_PRICES,
    description:
      'All prices as they would be. Each takes the place of those of its name, with the same meter and `by_group`; what ' +
      'none takes the place of is sold no more.',
  })
  readonly prices!: readonly PriceInputDto[];

  @IsInstant()
  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'Billing periods that begin then or later.',
    example: '2026-01-01T00:00:00.000Z',
  })
  readonly from!: string;

  @IsInstant()
  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'Billing periods that begin before.',
    example: '2026-07-01T00:00:00.000Z',
  })
  readonly to!: string;

  @Nullable()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_CUSTOMERS)
  @ArrayUnique()
  @IsIdOf('cus', { each: true })
  @ApiPropertyOptional({
    type: [String],
    nullable: true,
    minItems: 1,
    maxItems: MOST_CUSTOMERS,
    description: 'Only these customers; left out: all.',
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

/** The line that ends an answer whose status was sent before it failed. */
export function toProblemLine({ definition, occurrence }: ProblemError): object {
  return { type: 'problem', code: definition.code, detail: occurrence.detail };
}

/** A line of the answer. */
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
