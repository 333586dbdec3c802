import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsIn } from 'class-validator';
import { IsText, Omittable } from '../../../../platform/http';
import { PROVIDER_NAMES, type ProviderName } from '../../domain/payment-provider';
import type { NewPaymentMethod } from '../domain/payment-method';

export class CreatePaymentMethodDto {
  @IsIn(PROVIDER_NAMES)
  @ApiProperty({
    enum: PROVIDER_NAMES,
    description: 'Who charges it. `manual` charges nothing, and keeps no method.',
    example: 'sandbox',
  })
  readonly provider!: ProviderName;

  @IsText(1, 255)
  @ApiProperty({
    minLength: 1,
    maxLength: 255,
    description: 'As the provider names it; never a card number.',
    example: 'pm_sandbox_ok',
  })
  readonly token!: string;

  @Omittable()
  @IsBoolean()
  @ApiPropertyOptional({
    description:
      'Whether it becomes what is charged where nothing else is said; the one that was, is not any more. ' +
      'Left out: where the customer has no default.',
    example: true,
  })
  readonly is_default?: boolean;
}

export class UpdatePaymentMethodDto {
  @Omittable()
  @IsBoolean()
  @ApiPropertyOptional({
    description: 'Whether it is what is charged where nothing else is said.',
    example: true,
  })
  readonly is_default?: boolean;
}

export function toNewPaymentMethod(dto: CreatePaymentMethodDto): NewPaymentMethod {
  return { provider: dto.provider, token: dto.token, isDefault: dto.is_default ?? null };
}
