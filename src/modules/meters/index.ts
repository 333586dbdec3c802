export type { Meter, MeterTerms } from './domain/meter';
export { CreateMeterDto, toMeterTerms } from './dto/create-meter.dto';
export { MeterDto, toMeterDto } from './dto/meter.dto';
export {
  meterBackfilling,
  meterKeyTaken,
  meterNotFound,
  meterTermsContradict,
  tooManyMeters,
} from './meters.errors';
export { MetersModule } from './meters.module';
export { MetersService } from './meters.service';
