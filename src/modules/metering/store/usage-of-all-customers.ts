import { Injectable } from '@nestjs/common';
import { LargestUsageReader } from './largest-usage';
import { TotalUsageReader } from './total-usage';

/** Readers of the usage of all customers. */
@Injectable()
export class UsageOfAllCustomers {
  constructor(
    readonly largest: LargestUsageReader,
    readonly total: TotalUsageReader,
  ) {}
}
