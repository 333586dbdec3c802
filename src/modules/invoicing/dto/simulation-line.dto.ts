import { ApiProperty } from '@nestjs/swagger';

class AmountsDto {
  @ApiProperty({
    type: 'integer',
    description: 'Billed at the old prices, in minor units.',
    example: 2900,
  })
  readonly old_amount!: number;

  @ApiProperty({
    type: 'integer',
    description: 'At the new prices, in minor units.',
    example: 3100,
  })
  readonly new_amount!: number;

  @ApiProperty({ type: 'integer', description: '`new_amount` minus `old_amount`.', example: 200 })
  readonly difference!: number;
}

class SimulationCustomerLineDto extends AmountsDto {
  @ApiProperty({ enum: ['customer'], description: 'Kind of the line.', example: 'customer' })
  readonly type!: 'customer';

  @ApiProperty({ description: 'The customer.', example: 'cus_01h455vb4pex5vsknk084sn02q' })
  readonly customer_id!: string;
}

class SimulationProgressLineDto {
  @ApiProperty({ enum: ['progress'], description: 'Kind of the line.', example: 'progress' })
  readonly type!: 'progress';

  @ApiProperty({ type: 'integer', description: 'Customers read so far.', example: 500 })
  readonly customers!: number;

  @ApiProperty({ type: 'integer', description: 'Customers in all.', example: 1200 })
  readonly of!: number;
}

class SimulationTotalsLineDto extends AmountsDto {
  @ApiProperty({ enum: ['totals'], description: 'Kind of the line.', example: 'totals' })
  readonly type!: 'totals';

  @ApiProperty({ description: 'ISO 4217.', example: 'EUR' })
  readonly currency!: string;

  @ApiProperty({ type: 'integer', description: 'Customers in all.', example: 1200 })
  readonly customers!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Customers who would have paid less.',
    example: 300,
  })
  readonly winners!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Customers who would have paid more.',
    example: 700,
  })
  readonly losers!: number;
}

class SimulationProblemLineDto {
  @ApiProperty({ enum: ['problem'], description: 'Kind of the line.', example: 'problem' })
  readonly type!: 'problem';

  @ApiProperty({ description: 'Stable code of the problem.', example: 'amount_out_of_range' })
  readonly code!: string;

  @ApiProperty({ description: 'Explanation for people.', example: 'The amount is too large.' })
  readonly detail!: string;
}

/** Kinds of lines in the answer of a price simulation. */
export const SIMULATION_LINES = [
  SimulationCustomerLineDto,
  SimulationProgressLineDto,
  SimulationTotalsLineDto,
  SimulationProblemLineDto,
];
