import { Body, Controller, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Operation, withETag } from '../../platform/http';
import {
  CreateMeterDto,
  MeterDto,
  meterKeyTaken,
  meterTermsContradict,
  toMeterDto,
  tooManyMeters,
  toMeterTerms,
} from '../meters';
import { CreateMeterService } from './create-meter.service';
import { usageArchived } from './usage.errors';

@ApiTags('Meters')
@Controller('v1/meters')
export class CreateMeterController {
  constructor(private readonly createMeterService: CreateMeterService) {}

  @Post()
  @Operation({
    summary: 'Create a meter',
    description:
      'A meter turns the events of one name into a quantity per customer. It also counts events stored earlier: in the same ' +
      'commit if they are few and no other request is storing events of the name, and in the background otherwise. Until ' +
      'that is done the meter is `backfilling` and shows its progress. What a meter counts never changes.',
    access: 'catalog:write',
    status: 201,
    answer: MeterDto,
    key: 'optional',
    problems: [meterTermsContradict, tooManyMeters, meterKeyTaken, usageArchived],
  })
  async createMeter(@Body() body: CreateMeterDto): Promise<MeterDto> {
    return withETag(await this.createMeterService.create(toMeterTerms(body)), toMeterDto);
  }
}
