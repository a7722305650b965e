! SPDX-License-Identifier: MIT
! Fortran: arrays of modules, allocated ones and pointers, which the program
! reaches by their descriptors, parameters of any shape, derived types that hold and extend
! others. Says of itself where all that is, as truth.h does for C; loc() is the compiler's word.
module state
  implicit none
  integer, parameter :: dp = kind(1.d0), items = 2048, rounds = 12

  type cell
    real(dp) :: density
    real(dp) :: speed(3)
    integer :: material
  end type

  type, extends(cell) :: wet_cell
    real(dp) :: level
  end type

  type node
    type(node), pointer :: next => null()
    integer :: key
    real(dp) :: weight
  end type

  type tracer
    integer :: id
    real(dp), allocatable :: path(:)
    type(cell), pointer :: home
  end type

  real(dp) :: fixed(items), table(-8:8, 0:63), result
  type(cell) :: cells(items)
  type(wet_cell), allocatable :: wet(:)
  type(cell), allocatable, target :: made(:)
  real(dp), allocatable :: grid(:, :)
  integer, allocatable :: links(:)
  real(dp), pointer :: view(:)
  type(node), pointer :: first
  type(tracer), allocatable :: tracers(:)

contains

  subroutine build()
    integer :: i
    type(node), pointer :: n

    allocate(made(items), wet(items), grid(64, 96), links(items), tracers(items/8))
    allocate(view(items))
    fixed = 1; table = 2; grid = 3; view = 4
    do i = 1, items
      cells(i)%density = i; cells(i)%speed = 1; cells(i)%material = i
      made(i)%density = i; made(i)%speed = 2; made(i)%material = i
      wet(i)%density = i; wet(i)%speed = 3; wet(i)%material = i; wet(i)%level = 1
      links(i) = 1 + mod(i * 37, items)
    end do
    do i = 1, size(tracers)
      tracers(i)%id = i
      tracers(i)%home => made(links(i))
    end do
    call build_paths()
    call build_list()
  end subroutine

  subroutine build_paths()
    integer :: i

    do i = 1, size(tracers)
      allocate(tracers(i)%path(24))
      tracers(i)%path = i
    end do
  end subroutine

  subroutine build_list()
    integer :: i
    type(node), pointer :: n

    nullify(first)
    do i = 1, items
      allocate(n)
      n%key = i; n%weight = i
      n%next => first
      first => n
    end do
  end subroutine

  real(dp) function sum_fixed()
    integer :: i, j
    sum_fixed = 0
    do i = 1, items
      sum_fixed = sum_fixed + fixed(i)
    end do
    do j = 0, 63
      do i = -8, 8
        sum_fixed = sum_fixed + table(i, j)
      end do
    end do
  end function

  real(dp) function sum_cells()
    integer :: i
    sum_cells = 0
    do i = 1, items
      sum_cells = sum_cells + cells(i)%density + cells(i)%speed(2) + cells(i)%material
    end do
  end function

  real(dp) function sum_made()
    integer :: i
    sum_made = 0
    do i = 1, items
      sum_made = sum_made + made(i)%density * made(i)%speed(3) + made(i)%material
    end do
  end function

  real(dp) function sum_wet()
    integer :: i
    sum_wet = 0
    do i = 1, items
      sum_wet = sum_wet + wet(i)%level + wet(i)%speed(1) * wet(i)%density
    end do
  end function

  real(dp) function sum_grid()
    integer :: i, j
    sum_grid = 0
    do j = 1, size(grid, 2)
      do i = 1, size(grid, 1)
        sum_grid = sum_grid + grid(i, j)
      end do
    end do
  end function

  real(dp) function follow_links()
    integer :: i, at
    at = 1
    follow_links = 0
    do i = 1, items
      at = links(at)
      follow_links = follow_links + made(at)%density
    end do
  end function

  real(dp) function walk_list()
    type(node), pointer :: n
    walk_list = 0
    n => first
    do while (associated(n))
      walk_list = walk_list + n%weight + n%key
      n => n%next
    end do
  end function

  real(dp) function sum_tracers()
    integer :: i, j
    sum_tracers = 0
    do i = 1, size(tracers)
      do j = 1, 24
        sum_tracers = sum_tracers + tracers(i)%path(j)
      end do
      sum_tracers = sum_tracers + tracers(i)%home%density + tracers(i)%id
    end do
  end function

  real(dp) function sum_shape(a)
    real(dp), intent(in) :: a(:)
    integer :: i
    sum_shape = 0
    do i = 1, size(a)
      sum_shape = sum_shape + a(i)
    end do
  end function

  real(dp) function sum_cells_of(c)
    type(cell), intent(in) :: c(:)
    integer :: i
    sum_cells_of = 0
    do i = 1, size(c)
      sum_cells_of = sum_cells_of + c(i)%density + c(i)%speed(3) + c(i)%material
    end do
  end function

  real(dp) function sum_explicit(c, n)
    integer, intent(in) :: n
    type(cell), intent(in) :: c(n)
    integer :: i
    sum_explicit = 0
    do i = 1, n
      sum_explicit = sum_explicit + c(i)%density + c(i)%material
    end do
  end function

  real(dp) function sum_wet_class(c)
    class(cell), intent(in) :: c
    sum_wet_class = c%density + c%material
  end function
end module

! The lines that check.py reads.
module truth
  use state
  implicit none
  integer :: out
contains
  ! Digits by hand, and no formats: most of the program's loads would else be those of WRITE.
  subroutine say(line, numbers, rest)
    character(*), intent(in) :: line, rest
    integer(8), intent(in) :: numbers(:)
    character(128) :: text
    integer(8) :: left
    integer :: i, first
    first = len(text) + 1
    do i = size(numbers), 1, -1
      left = numbers(i)
      do
        first = first - 1
        text(first:first) = char(ichar('0') + mod(left, 10_8))
        left = left / 10
        if (left == 0) exit
      end do
      first = first - 1
      text(first:first) = char(9)
    end do
    write (out) line//text(first:)//char(9)//rest//char(10)
  end subroutine

  subroutine object(kind, name, type, at, bytes, count)
    character(*), intent(in) :: kind, name, type
    integer(8), intent(in) :: at, bytes, count
    call say('object'//char(9)//kind//char(9)//name//char(9)//type, [at, bytes, count], '*')
  end subroutine

  subroutine field(type, name, offset, bytes, also)
    character(*), intent(in) :: type, name, also
    integer(8), intent(in) :: offset, bytes
    call say('field'//char(9)//type//char(9)//name, [offset, bytes], also)
  end subroutine

  subroutine say_fields()
    integer(8) :: start

    start = loc(cells(1))
    call field('state::cell', 'density', loc(cells(1)%density) - start, 8_8, '')
    call field('state::cell', 'speed[]', loc(cells(1)%speed) - start, 24_8, '')
    call field('state::cell', 'material', loc(cells(1)%material) - start, 4_8, '')
    start = loc(wet(1))
    call field('state::wet_cell', 'cell.density', loc(wet(1)%density) - start, 8_8, 'state::cell:density')
    call field('state::wet_cell', 'cell.speed[]', loc(wet(1)%speed) - start, 24_8, 'state::cell:speed[]')
    call field('state::wet_cell', 'cell.material', loc(wet(1)%material) - start, 4_8, 'state::cell:material')
    call field('state::wet_cell', 'level', loc(wet(1)%level) - start, 8_8, '')
    start = loc(first)
    ! The address of a pointer is its target's: it is the first component.
    call field('state::node', 'next', 0_8, 8_8, '')
    call field('state::node', 'key', loc(first%key) - start, 4_8, '')
    call field('state::node', 'weight', loc(first%weight) - start, 8_8, '')
    ! The address of an allocated component is its items': the descriptor begins on the next
    ! multiple of 8 after the component before it, and with that address.
    call field('state::tracer', 'id', loc(tracers(1)%id) - loc(tracers(1)), 4_8, '')
    call field('state::tracer', 'path.base_addr', 8_8, 8_8, 'real(kind=8)(:):base_addr')
    call field('state::tracer', 'path.offset', 16_8, 8_8, 'real(kind=8)(:):offset')
    call field('state::tracer', 'home', 8_8 + 64, 8_8, '')
  end subroutine

  subroutine say_objects()
    integer(8) :: cell_bytes
    integer :: i
    type(node), pointer :: n

    cell_bytes = loc(cells(2)) - loc(cells(1))
    call object('global', 'state::fixed', 'real(kind=8)', loc(fixed), 8_8, int(size(fixed), 8))
    call object('global', 'state::table', 'real(kind=8)', loc(table), 8_8, int(size(table), 8))
    call object('global', 'state::cells', 'state::cell', loc(cells), cell_bytes, int(items, 8))
    call object('heap', 'state::build at ', 'state::cell', loc(made(1)), cell_bytes, int(items, 8))
    call object('heap', 'state::build at ', 'state::wet_cell', loc(wet(1)), loc(wet(2)) - loc(wet(1)), int(items, 8))
    call object('heap', 'state::build at ', 'real(kind=8)', loc(grid(1, 1)), 8_8, int(size(grid), 8))
    call object('heap', 'state::build at ', 'integer(kind=4)', loc(links(1)), 4_8, int(items, 8))
    call object('heap', 'state::build at ', 'real(kind=8)', loc(view(1)), 8_8, int(items, 8))
    call object('heap', 'state::build at ', 'state::tracer', loc(tracers(1)), loc(tracers(2)) - loc(tracers(1)), &
                int(size(tracers), 8))
    do i = 1, size(tracers)
      call object('heap', 'state::build_paths at ', 'real(kind=8)', loc(tracers(i)%path(1)), 8_8, 24_8)
    end do
    n => first
    do while (associated(n))
      call object('heap', 'state::build_list at ', 'state::node', loc(n), 24_8, 1_8)
      n => n%next
    end do
  end subroutine

  subroutine tell()
    character(4096) :: path
    call get_environment_variable('TRUTH', path)
    open (newunit=out, file=trim(path), status='replace', action='write', access='stream', form='unformatted')
    call say_fields()
    call say_objects()
    close (out)
  end subroutine
end module

program main
  use state
  use truth
  implicit none
  integer :: i, j

  call build()
  call tell()
  result = 0
  do i = 1, rounds
    result = result + sum_fixed() + sum_cells() + sum_made() + sum_wet() + sum_grid()
    result = result + follow_links() + walk_list() + sum_tracers()
    result = result + sum_shape(view) + sum_shape(grid(:, 5)) + sum_shape(fixed(1:items:2))
    result = result + sum_cells_of(made) + sum_cells_of(cells(::2)) + sum_explicit(made, items)
    do j = 1, items
      result = result + sum_wet_class(wet(j))
    end do
  end do
  if (result < 0) print *, result
end program
