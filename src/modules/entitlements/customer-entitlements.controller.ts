import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { idempotencyKeyReused, invalidCursor, invalidTransition } from '../../platform/errors';
import {
  IdPipe,
  ListQueryDto,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
} from '../../platform/http';
import { customerNotFound } from '../customers';
import { testClockAdvancing, testClockFailed } from '../test-clocks';
import { ConsumeService } from './consume.service';
import {
  ConsumeEntitlementDto,
  ConsumptionDto,
  toConsumeRequest,
  toConsumptionDto,
} from './dto/consume-entitlement.dto';
import { CreateGrantDto, toGrantTerms } from './dto/create-grant.dto';
import { CustomerEntitlementDto, toCustomerEntitlementDto } from './dto/customer-entitlement.dto';
import { EntitlementGrantDto, toEntitlementGrantDto } from './dto/entitlement-grant.dto';
import {
  consumptionRefused,
  entitlementKeyNotFound,
  entitlementNotConsumable,
  entitlementNotMetered,
  grantContradicts,
  grantNotFound,
  tooManyGrants,
} from './entitlements.errors';
import { GrantsService } from './grants.service';
import { HoldingsService } from './holdings.service';
import { KeyPipe } from './key.pipe';

const customerId = new IdPipe('cus', customerNotFound);
const entitlementKey = new KeyPipe();
const grantId = new IdPipe('grant', grantNotFound);

const READS = [customerNotFound, entitlementKeyNotFound];
const CHANGES = [...READS, testClockAdvancing, testClockFailed];

@ApiTags('Entitlements')
@Controller('v1/customers/:id/entitlements')
export class CustomerEntitlementsController {
  constructor(
    private readonly holdings: HoldingsService,
    private readonly consuming: ConsumeService,
    private readonly grants: GrantsService,
  ) {}

  @Get()
  @Operation({
    summary: 'List what a customer has',
    description: 'Plans, add-ons and grants resolved, the newest entitlement first.',
    status: 200,
    answer: pageOf(CustomerEntitlementDto),
    reads: 'query',
    problems: [customerNotFound, invalidCursor],
  })
  async listCustomerEntitlements(
    @Param('id', customerId) id: string,
    @Query() query: ListQueryDto,
  ): Promise<PageDto<CustomerEntitlementDto>> {
    const page = await this.holdings.list(id, toPageRequest(query, 'ent'));
    return toPageDto(page, toCustomerEntitlementDto);
  }

  @Get(':key')
  @Operation({
    summary: 'Check what a customer has of an entitlement',
    description:
      'As of the last commit: usage acknowledged before the call is in the answer. A customer without it has no access.',
    status: 200,
    answer: CustomerEntitlementDto,
    reads: 'path',
    problems: READS,
  })
  async getCustomerEntitlement(
    @Param('id', customerId) id: string,
    @Param('key', entitlementKey) key: string,
  ): Promise<CustomerEntitlementDto> {
    return toCustomerEntitlementDto(await this.holdings.get(id, key));
  }

  @Post(':key/consume')
  @Operation({
    summary: 'Use some of an entitlement',
    description:
      'Checks and counts in one commit: all of the quantity, or with `allowed: false` nothing. Beyond a soft limit it is overage. Where a meter counts, it becomes an event of the meter, and is billed like any other.',
    status: 200,
    answer: ConsumptionDto,
    reads: 'post',
    problems: [
      ...CHANGES,
      entitlementNotMetered,
      entitlementNotConsumable,
      consumptionRefused,
      idempotencyKeyReused,
    ],
  })
  async consumeEntitlement(
    @Param('id', customerId) id: string,
    @Param('key', entitlementKey) key: string,
    @Body() body: ConsumeEntitlementDto,
  ): Promise<ConsumptionDto> {
    return toConsumptionDto(
      await this.consuming.consume({ customerId: id, key }, toConsumeRequest(body)),
    );
  }

  @Post(':key/grants')
  @Operation({
    summary: 'Give a customer some of an entitlement',
    description:
      'Beside what it subscribed to, which is used up first. Grants are used up by priority, then by expiry, then by age.',
    status: 201,
    answer: EntitlementGrantDto,
    reads: 'post',
    problems: [...CHANGES, grantContradicts, tooManyGrants],
  })
  async createEntitlementGrant(
    @Param('id', customerId) id: string,
    @Param('key', entitlementKey) key: string,
    @Body() body: CreateGrantDto,
  ): Promise<EntitlementGrantDto> {
    return toEntitlementGrantDto(await this.grants.create(id, key, toGrantTerms(body)));
  }

  @Get(':key/grants')
  @Operation({
    summary: 'List the grants of a customer',
    status: 200,
    answer: pageOf(EntitlementGrantDto),
    reads: 'query',
    problems: [...READS, invalidCursor],
  })
  async listEntitlementGrants(
    @Param('id', customerId) id: string,
    @Param('key', entitlementKey) key: string,
    @Query() query: ListQueryDto,
  ): Promise<PageDto<EntitlementGrantDto>> {
    const page = await this.grants.list(id, key, toPageRequest(query, 'grant'));
    return toPageDto(page, toEntitlementGrantDto);
  }

  @Post(':key/grants/:grantId/void')
  @Operation({
    summary: 'Take a grant back',
    description: 'What it covered stays covered. A second time changes nothing.',
    status: 200,
    answer: EntitlementGrantDto,
    reads: 'post',
    problems: [...CHANGES, grantNotFound, invalidTransition],
  })
  async voidEntitlementGrant(
    @Param('id', customerId) id: string,
    @Param('key', entitlementKey) key: string,
    @Param('grantId', grantId) grant: string,
  ): Promise<EntitlementGrantDto> {
    return toEntitlementGrantDto(await this.grants.void(id, key, grant));
  }
}
