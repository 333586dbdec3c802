import { Body, Controller, Delete, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Caller, type Principal } from '../../platform/access';
import { scopeNotHeld } from '../../platform/errors';
import { IdPipe, Operation } from '../../platform/http';
import { SecretAnswer } from '../../platform/idempotency';
import { customerNotFound } from '../customers';
import { customerTokenNotFound } from './access.errors';
import { CustomerTokensService } from './customer-tokens.service';
import {
  CreateCustomerTokenDto,
  CustomerTokenWithSecretDto,
  toCustomerTokenTerms,
  toCustomerTokenWithSecretDto,
} from './dto/customer-token.dto';

const customerId = new IdPipe('cus', customerNotFound);
const customerIdOfToken = new IdPipe('cus', customerTokenNotFound);
const tokenId = new IdPipe('ctok', customerTokenNotFound);

@ApiTags('Customers')
@Controller('v1/customers/:id/tokens')
export class CustomerTokensController {
  constructor(private readonly tokens: CustomerTokensService) {}

  @Post()
  @SecretAnswer()
  @Operation({
    summary: 'Issue a customer token',
    description:
      'Lets a browser or a gateway read the entitlements and the invoices of this customer for a while, and nothing else. Only ' +
      'this answer contains the token. The token can have only scopes that the caller holds.',
    access: 'customers:write',
    status: 201,
    answer: CustomerTokenWithSecretDto,
    key: 'optional',
    problems: [customerNotFound, scopeNotHeld],
  })
  async createCustomerToken(
    @Param('id', customerId) id: string,
    @Body() body: CreateCustomerTokenDto,
    @Caller() caller: Principal,
  ): Promise<CustomerTokenWithSecretDto> {
    const { token, secret } = await this.tokens.issue(id, toCustomerTokenTerms(body), caller);
    return toCustomerTokenWithSecretDto(token, secret);
  }

  @Delete(':token_id')
  @Operation({
    summary: 'Revoke a customer token',
    description: 'Ends the token in every process within a second.',
    access: 'customers:write',
    problems: [customerTokenNotFound],
  })
  async revokeCustomerToken(
    @Param('id', customerIdOfToken) id: string,
    @Param('token_id', tokenId) token: string,
  ): Promise<void> {
    await this.tokens.revoke(token, id);
  }
}
