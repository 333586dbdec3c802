import { EnumProperty, IntegerProperty, TextProperty } from '../../../platform/http';

class AmountsDto {
  @IntegerProperty('Billed at the old prices, in minor units.', 2900) readonly old_amount!: number;
  @IntegerProperty('At the new prices, in minor units.', 3100) readonly new_amount!: number;
  @IntegerProperty('`new_amount` minus `old_amount`.', 200) readonly difference!: number;
}

class SimulationCustomerLineDto extends AmountsDto {
  @EnumProperty(['customer'], 'Kind of the line.', 'customer') readonly type!: 'customer';
  @TextProperty('The customer.', 'cus_01h455vb4pex5vsknk084sn02q') readonly customer_id!: string;
}

class SimulationProgressLineDto {
  @EnumProperty(['progress'], 'Kind of the line.', 'progress') readonly type!: 'progress';
  @IntegerProperty('Customers read so far.', 500) readonly customers!: number;
  @IntegerProperty('Customers in all.', 1200) readonly of!: number;
}

class SimulationTotalsLineDto extends AmountsDto {
  @EnumProperty(['totals'], 'Kind of the line.', 'totals') readonly type!: 'totals';
  @TextProperty('ISO 4217.', 'EUR') readonly currency!: string;
  @IntegerProperty('Customers in all.', 1200) readonly customers!: number;
  @IntegerProperty('Customers who would have paid less.', 300) readonly winners!: number;
  @IntegerProperty('Customers who would have paid more.', 700) readonly losers!: number;
}

class SimulationProblemLineDto {
  @EnumProperty(['problem'], 'Kind of the line.', 'problem') readonly type!: 'problem';
  @TextProperty('Stable code of the problem.', 'amount_out_of_range') readonly code!: string;
  @TextProperty('Explanation for people.', 'The amount is too large.') readonly detail!: string;
}

export const SIMULATION_LINES = [
  SimulationCustomerLineDto,
  SimulationProgressLineDto,
  SimulationTotalsLineDto,
  SimulationProblemLineDto,
];
