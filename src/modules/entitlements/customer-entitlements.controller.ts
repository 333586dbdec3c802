import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { idempotencyKeyReused, invalidTransition } from '../../platform/errors';
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
import { TEST_CLOCK_PROBLEMS, testClockNotFound } from '../test-clocks';
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
import { BalancesService } from './balances.service';
import { CustomerEntitlementsService } from './customer-entitlements.service';
import { KeyPipe } from './key.pipe';

const customerId = new IdPipe('cus', customerNotFound);
const entitlementKey = new KeyPipe();
const grantId = new IdPipe('grant', grantNotFound);

/**
 * Errors of reading routes. Includes `testClockNotFound`, because a customer can still be found while its test clock is
 * being deleted.
 */
const READ_PROBLEMS = [customerNotFound, entitlementKeyNotFound, testClockNotFound];
const CHANGE_PROBLEMS = [customerNotFound, entitlementKeyNotFound, ...TEST_CLOCK_PROBLEMS];

@ApiTags('Entitlements')
@Controller('v1/customers/:id/entitlements')
export class CustomerEntitlementsController {
  constructor(
    private readonly entitlements: CustomerEntitlementsService,
    private readonly balancesService: BalancesService,
    private readonly consumeService: ConsumeService,
    private readonly grantsService: GrantsService,
  ) {}

  @Get()
  @Operation({
    summary: 'List the entitlements of a customer',
    description: 'Resolves plans, add-ons and grants. Newest entitlement first.',
    access: 'entitlements:read',
    customerToken: { path: 'id' },
    answer: pageOf(CustomerEntitlementDto),
    problems: [customerNotFound, testClockNotFound],
  })
  async listCustomerEntitlements(
    @Param('id', customerId) id: string,
    @Query() query: ListQueryDto,
  ): Promise<PageDto<CustomerEntitlementDto>> {
    const page = await this.entitlements.list(id, toPageRequest(query, 'ent'));
    return toPageDto(page, toCustomerEntitlementDto);
  }

  @Get(':key')
  @Operation({
    summary: 'Check an entitlement of a customer',
    description:
      'Includes all usage that was acknowledged before the call. A customer without the entitlement gets `has_access: false`.',
    access: 'entitlements:read',
    customerToken: { path: 'id' },
    answer: CustomerEntitlementDto,
    problems: READ_PROBLEMS,
  })
  async getCustomerEntitlement(
    @Param('id', customerId) id: string,
    @Param('key', entitlementKey) key: string,
  ): Promise<CustomerEntitlementDto> {
    return toCustomerEntitlementDto(await this.balancesService.get(id, key));
  }

  @Post(':key/consume')
  @Operation({
    summary: 'Consume an entitlement',
    description:
      'Checks and counts atomically: the whole quantity, or nothing with `allowed: false`. Usage beyond a soft limit is overage. With a meter, the consumption is stored as a usage event and billed like any other.',
    access: 'usage:write',
    answer: ConsumptionDto,
    key: 'optional',
    problems: [
      ...CHANGE_PROBLEMS,
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
      await this.consumeService.consume({ customerId: id, key }, toConsumeRequest(body)),
    );
  }

  @Post(':key/grants')
  @Operation({
    summary: 'Grant an entitlement to a customer',
    description:
      'Adds quantity. What subscriptions allow is used up before grants. Burn-down order of grants: priority, expiry, age.',
    access: 'entitlements:write',
    status: 201,
    answer: EntitlementGrantDto,
    key: 'optional',
    problems: [...CHANGE_PROBLEMS, grantContradicts, tooManyGrants],
  })
  async createEntitlementGrant(
    @Param('id', customerId) id: string,
    @Param('key', entitlementKey) key: string,
    @Body() body: CreateGrantDto,
  ): Promise<EntitlementGrantDto> {
    return toEntitlementGrantDto(await this.grantsService.create(id, key, toGrantTerms(body)));
  }

  @Get(':key/grants')
  @Operation({
    summary: 'List the grants of an entitlement of a customer',
    description: 'Newest first, expired and void grants included.',
    access: 'entitlements:read',
    answer: pageOf(EntitlementGrantDto),
    problems: [...READ_PROBLEMS],
  })
  async listEntitlementGrants(
    @Param('id', customerId) id: string,
    @Param('key', entitlementKey) key: string,
    @Query() query: ListQueryDto,
  ): Promise<PageDto<EntitlementGrantDto>> {
    const page = await this.grantsService.list(id, key, toPageRequest(query, 'grant'));
    return toPageDto(page, toEntitlementGrantDto);
  }

  @Post(':key/grants/:grantId/void')
  @Operation({
    summary: 'Void a grant',
    description:
      'Usage taken from the grant stays covered; the rest of its balance is lost. Voiding again is a no-op.',
    access: 'entitlements:write',
    answer: EntitlementGrantDto,
    key: 'optional',
    problems: [...CHANGE_PROBLEMS, grantNotFound, invalidTransition],
  })
  async voidEntitlementGrant(
    @Param('id', customerId) id: string,
    @Param('key', entitlementKey) key: string,
    @Param('grantId', grantId) grant: string,
  ): Promise<EntitlementGrantDto> {
    return toEntitlementGrantDto(await this.grantsService.void(id, key, grant));
  }
}
