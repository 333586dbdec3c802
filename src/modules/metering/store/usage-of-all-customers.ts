import { Injectable } from '@nestjs/common';
import { LargestUsageReader } from './largest-usage';
import { TotalUsageReader } from './total-usage';

@Injectable()
export class UsageOfAllCustomers {
  constructor(
    readonly largest: LargestUsageReader,
    readonly total: TotalUsageReader,
  ) {}
}
